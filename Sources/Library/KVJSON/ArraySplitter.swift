internal import Glibc
internal import KVBase

/// Cuts a JSON array of entities, which arrives in pieces of any size, into its entities.
///
///     | removed | complete entities | start of the next entity | free |
///     0                                      scanned                    filled  capacity
///
/// Memory: what has arrived since the last `drain`, plus the start of one entity. Time: linear, even when
/// a large entity arrives in many small pieces, because it is looked at again only when it has doubled.
/// One thread at a time.
package struct ArraySplitter: ~Copyable {
  private enum State {
    case beforeArray, beforeFirst, beforeElement, afterElement, afterArray
  }

  /// From `malloc`, which can fail.
  private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var filled = 0
  private var scanned = 0
  /// The number of bytes that have to be there before another scan pays.
  private var worthScanning = 0
  private var state = State.beforeArray
  private var outlines: [EntityOutline] = []
  /// Whether there were strings among the elements, which are no entities; an error unless they may be there.
  package private(set) var hasStrings = false
  private let allowsStrings: Bool
  private let format: RecordFormat
  private let maximumElement: Int
  /// Bytes that went by before the buffer's first one: for positions in errors.
  private var gone = 0

  /// `maximumElement`: an entity with more bytes is an error. `allowsStrings`: strings may stand among the entities, and are
  /// passed over.
  package init(
    _ format: RecordFormat = .default, maximumElement: Int = 100 << 20, allowsStrings: Bool = false
  ) {
    self.format = format
    self.allowsStrings = allowsStrings
    self.maximumElement = maximumElement
  }

  deinit { free(buffer.baseAddress) }

  /// The number of complete entities.
  package var count: Int { outlines.count }

  /// The number of their bytes, punctuation included.
  package var byteCount: Int { outlines.isEmpty ? 0 : scanned }

  /// Adds what arrived. It is copied. After an error the splitter is of no more use.
  package mutating func append(_ piece: UnsafeRawBufferPointer) throws(JSONError) {
    guard piece.count > 0 else { return }
    try reserve(piece.count)
    UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(from: piece)
    filled &+= piece.count
    guard filled >= worthScanning else { return }
    try scan()
  }

  /// Hands over the complete entities and makes room. The bytes are borrowed until `body` returns, also
  /// when it throws; the entities are gone then too.
  package mutating func drain<R, E: Error>(
    _ body: (UnsafeRawBufferPointer, [EntityOutline]) throws(E) -> R
  ) throws(E) -> R {
    let complete = outlines
    outlines = []
    defer { makeRoom() }
    return try body(UnsafeRawBufferPointer(rebasing: buffer[0..<scanned]), complete)
  }

  /// Ends the input: an error if the array is not complete. Call `drain` afterwards.
  package mutating func finish() throws(JSONError) {
    try scan()
    guard state == .afterArray, scanned == filled else {
      throw JSONError(.truncated, at: gone &+ filled)
    }
  }

  // MARK: Scanning

  private mutating func scan() throws(JSONError) {
    do throws(JSONError) {
      try scanElements(ByteScanner(UnsafeRawBufferPointer(rebasing: buffer[0..<filled])))
    } catch {
      guard error.reason == .truncated else {
        throw JSONError(error.reason, at: gone &+ error.position)
      }
      let waiting = filled &- scanned
      guard waiting <= maximumElement else { throw JSONError(.tooLarge, at: gone &+ scanned) }
      worthScanning = filled &+ waiting
    }
  }

  /// Moves `scanned` on over everything that is complete; throws `.truncated` where it is not.
  private mutating func scanElements(_ scanner: ByteScanner) throws(JSONError) {
    while true {
      scanned = scanner.skipSpace(scanned)
      guard scanned < filled else { return }
      switch state {
      case .beforeArray:
        scanned = try scanner.expect(UInt8(ascii: "["), scanned)
        state = .beforeFirst
      case .beforeFirst where scanner.base[scanned] == UInt8(ascii: "]"):
        scanned &+= 1
        state = .afterArray
      case .beforeFirst where isString(scanner), .beforeElement where isString(scanner):
        scanned = try scanner.skipString(scanned)
        hasStrings = true
        state = .afterElement
      case .beforeFirst, .beforeElement:
        let outline = try EntityScanner.entity(scanner, at: scanned, format: format)
        guard outline.range.count <= maximumElement else {
          throw JSONError(.tooLarge, at: scanned)
        }
        try outlines.makeRoom(for: 1, or: JSONError(.noMemory, at: scanned))
        outlines.append(outline)
        scanned = outline.range.upperBound
        state = .afterElement
      case .afterElement:
        let isEnd = scanner.base[scanned] == UInt8(ascii: "]")
        scanned = isEnd ? scanned &+ 1 : try scanner.expect(UInt8(ascii: ","), scanned)
        state = isEnd ? .afterArray : .beforeElement
      case .afterArray:
        throw scanner.unexpected(scanned)
      }
    }
  }

  private func isString(_ scanner: ByteScanner) -> Bool {
    allowsStrings && scanner.base[scanned] == UInt8(ascii: "\"")
  }

  // MARK: Room

  /// Moves the start of the next entity to the front.
  private mutating func makeRoom() {
    let rest = filled &- scanned
    if rest > 0, scanned > 0, let base = buffer.baseAddress {
      base.copyMemory(from: base + scanned, byteCount: rest)
    }
    gone &+= scanned
    worthScanning = max(0, worthScanning &- scanned)
    filled = rest
    scanned = 0
  }

  private mutating func reserve(_ count: Int) throws(JSONError) {
    if outlines.isEmpty, scanned > 0 { makeRoom() }
    let needed = filled &+ count
    guard needed > buffer.count else { return }
    let byteCount = max(needed, buffer.count &* 2, 1 << 16)
    guard let moved = realloc(buffer.baseAddress, byteCount) else {
      throw JSONError(.noMemory, at: gone &+ filled)
    }
    buffer = UnsafeMutableRawBufferPointer(start: moved, count: byteCount)
  }
}
