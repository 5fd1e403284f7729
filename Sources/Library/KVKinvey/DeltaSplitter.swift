internal import KVBase
internal import KVJSON
internal import KVSync
internal import KVTransport

/// Cuts `{"changed":[…],"deleted":[{"_id":…}],"left":[{"_id":…}]}`, which arrives in pieces of any size, into its lists.
///
/// Memory: a batch of what has changed, and all ids: what was deleted and made again is in two lists, and counts as
/// changed. After an error it is of no more use. One thread at a time.
struct DeltaSplitter: ~Copyable {
  private enum List: String { case changed, deleted, left, unknown }

  /// Longer is nothing of the backend's, its lists aside.
  private static let maxEnvelopeBytes = 4096

  /// The text with each list replaced by a zero.
  private var envelope: [UInt8] = []
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  private var list: List?
  private var elements = ArraySplitter()
  private var seen: [List] = []
  private var changed: Set<RecordID> = []
  private var deleted: [String] = []
  private var left: [String] = []

  /// Adds what arrived, and hands over what has changed.
  mutating func append(
    _ piece: UnsafeRawBufferPointer, changed: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    // Where in the piece the part of the present list begins.
    var start = 0
    for (position, byte) in piece.enumerated() {
      let wasInside = depth > 1
      scan(at: byte)
      if depth > 1, !wasInside {
        begin()
        start = position
      } else if wasInside, depth == 1 {
        try add(UnsafeRawBufferPointer(rebasing: piece[start...position]), changed)
        try end(changed)
      } else if !wasInside {
        envelope.append(byte)
      }
    }
    if depth > 1 { try add(UnsafeRawBufferPointer(rebasing: piece[start...]), changed) }
    guard envelope.count <= Self.maxEnvelopeBytes else { throw Self.malformed }
  }

  /// Says that nothing more comes. Returns the ids of what is gone, and of what does not match any more.
  mutating func finish() throws(StoreError) -> (deleted: [String], left: [String]) {
    guard try JSONValue.ifValid(envelope)?.objectValue != nil,
      seen.filter({ $0 == .changed }).count == 1, seen.filter({ $0 == .deleted }).count == 1,
      seen.filter({ $0 == .left }).count <= 1
    else { throw Self.malformed }
    left.removeAll { changed.contains(RecordID($0)) }
    let elsewhere = changed.union(left.map { RecordID($0) })
    deleted.removeAll { elsewhere.contains(RecordID($0)) }
    return (deleted, left)
  }

  private static var malformed: StoreError {
    .badAnswer("The backend's answer to a request for changes is not valid.")
  }

  // MARK: The envelope

  private mutating func scan(at byte: UInt8) {
    if isInString {
      isInString = isEscaped || byte != UInt8(ascii: "\"")
      isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      return
    }
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
    case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
    default: break
    }
  }

  private mutating func begin() {
    let list = List(rawValue: memberName) ?? .unknown
    self.list = list
    seen.append(list)
    elements = ArraySplitter()
    envelope.append(UInt8(ascii: "0"))
  }

  /// The member whose value follows the envelope so far, as long as its name has no escapes; else anything.
  private var memberName: String {
    let name = envelope.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
    return name.count < 2 ? "" : String(decoding: name[name.count - 2], as: UTF8.self)
  }

  // MARK: A list

  private mutating func add(
    _ part: UnsafeRawBufferPointer, _ receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard list != .unknown else { return }
    do throws(JSONError) { try elements.append(part) } catch { throw .badAnswer(error) }
    if elements.isFull { try deliver(to: receive) }
  }

  private mutating func end(
    _ receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    defer { list = nil }
    guard list != .unknown else { return }
    do throws(JSONError) { try elements.finish() } catch { throw .badAnswer(error) }
    try deliver(to: receive)
  }

  private mutating func deliver(
    to receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    var ids: [String] = []
    let isChanged = list == .changed
    try elements.drain { (bytes, outlines) throws(StoreError) in
      let batch = RecordBatch(bytes, outlines)
      ids = try batch.ids()
      if isChanged, batch.count > 0 { try receive(batch) }
    }
    switch list {
    case .changed: changed.formUnion(ids.map { RecordID($0) })
    case .deleted: deleted += ids
    case .left: left += ids
    case .unknown, nil: break
    }
  }
}
