/// The members of one object, one after the other, validating on the way.
package struct MemberCursor {
  package struct Member {
    /// The name between its quotes, escapes included.
    package var name: Range<Int>
    package var value: Range<Int>

    @inlinable
    package init(name: Range<Int>, value: Range<Int>) {
      self.name = name
      self.value = value
    }
  }

  package let scanner: ByteScanner
  /// The number of levels that are open inside the object.
  private let depth: Int
  private let numbers: NumberRule
  private let names: RepeatedMembers?
  /// The position where the next member or the closing brace is expected; after the brace at the end.
  package private(set) var position: Int
  private var isFirst = true

  /// Starts at the `{` at `position`; `depth` is how many levels are open around it.
  @inline(__always)
  package init(
    _ scanner: ByteScanner, at position: Int, depth: Int = 0, numbers: NumberRule = .any
  ) throws(JSONError) {
    try self.init(scanner, at: position, depth: depth, numbers: numbers, names: nil)
  }

  /// `names`: get those of all members, and of the objects inside.
  @inline(__always)
  init(
    _ scanner: ByteScanner, at position: Int, depth: Int = 0, numbers: NumberRule,
    names: RepeatedMembers?
  ) throws(JSONError) {
    self.scanner = scanner
    self.numbers = numbers
    self.names = names
    self.depth = depth &+ 1
    guard depth < EntityScanner.maximumDepth else { throw JSONError(.tooDeep, at: position) }
    self.position = scanner.skipSpace(try scanner.expect(UInt8(ascii: "{"), position))
  }

  /// The next member; nil after the closing brace.
  @inline(__always)
  package mutating func next() throws(JSONError) -> Member? {
    var at = position
    if try scanner.byte(at) == UInt8(ascii: "}") {
      position = at &+ 1
      return nil
    }
    if !isFirst { at = scanner.skipSpace(try scanner.expect(UInt8(ascii: ","), at)) }
    isFirst = false
    let nameEnd = try scanner.skipString(at)
    let name = at &+ 1..<nameEnd &- 1
    names?.add(name, scanner)
    at = scanner.skipSpace(try scanner.expect(UInt8(ascii: ":"), scanner.skipSpace(nameEnd)))
    let end = try scanner.skipValue(at, depth: depth, numbers: numbers, names: names)
    position = scanner.skipSpace(end)
    return Member(name: name, value: at..<end)
  }

  /// Whether a member's name, with its escapes undone, is this ASCII or UTF-8 text.
  @inline(__always)
  package func isName(_ range: Range<Int>, _ wanted: StaticString) -> Bool {
    let bytes = UnsafeBufferPointer(start: wanted.utf8Start, count: wanted.utf8CodeUnitCount)
    return scanner.text(range, equals: bytes)
  }
}

extension ByteScanner {
  /// Whether what is between the quotes, with its escapes undone, are these bytes.
  @inlinable @inline(__always)
  package func text(_ range: Range<Int>, equals wanted: UnsafeBufferPointer<UInt8>) -> Bool {
    var index = 0
    while index < wanted.count, index < range.count {
      let byte = base[range.lowerBound &+ index]
      if byte != wanted[index] {
        // Only an escape can make texts equal that differ in a byte.
        return byte == UInt8(ascii: "\\") && unescaped(range).elementsEqual(wanted)
      }
      index &+= 1
    }
    return range.count == wanted.count
  }

  /// Not 0 if one of eight bytes is a backslash.
  @inlinable @inline(__always)
  package static func slashes(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let slash = word ^ (ones &* 0x5C)
    return (slash &- ones) & ~slash & (ones &* 0x80)
  }

  @inlinable @inline(__always)
  package func hasEscapes(_ range: Range<Int>) -> Bool {
    var at = range.lowerBound
    while at &+ 8 <= range.upperBound {
      let word = UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self)
      if ByteScanner.slashes(word) != 0 { return true }
      at &+= 8
    }
    while at < range.upperBound {
      if base[at] == UInt8(ascii: "\\") { return true }
      at &+= 1
    }
    return false
  }
}
