/// The elements of one array, one after the other, validating on the way.
package struct ElementCursor {
  private let scanner: ByteScanner
  private let depth: Int
  /// The position where the next element or the closing bracket is expected.
  private var position: Int
  private var isFirst = true

  /// Starts at the `[` at `position`; `depth` is how many levels are open around it.
  @inline(__always)
  package init(_ scanner: ByteScanner, at position: Int, depth: Int = 0) throws(JSONError) {
    self.scanner = scanner
    self.depth = depth &+ 1
    guard depth < EntityScanner.maximumDepth else { throw JSONError(.tooDeep, at: position) }
    self.position = scanner.skipSpace(try scanner.expect(UInt8(ascii: "["), position))
  }

  /// The next element; nil at the closing bracket.
  @inline(__always)
  package mutating func next() throws(JSONError) -> Range<Int>? {
    var at = position
    if try scanner.byte(at) == UInt8(ascii: "]") { return nil }
    if !isFirst { at = scanner.skipSpace(try scanner.expect(UInt8(ascii: ","), at)) }
    isFirst = false
    let end = try scanner.skipValue(at, depth: depth)
    position = scanner.skipSpace(end)
    return at..<end
  }
}
