internal import KVBase
internal import KVJSON

/// What the operator's service answers to a hook: a JSON object, or nothing.
struct LogicReply {
  private let bytes: [UInt8]
  private var members: [(name: String, range: Range<Int>)] = []

  /// Throws if it is no JSON object.
  init(_ bytes: [UInt8]) throws(JSONError) {
    self.bytes = bytes
    guard bytes.contains(where: { $0 > 0x20 }) else { return }
    members = try bytes.withBorrowedBytes { (bytes) throws(JSONError) in
      try EntityScanner.validate(bytes)
      let scanner = ByteScanner(bytes)
      var cursor = try MemberCursor(scanner, at: scanner.skipSpace(0))
      var members: [(name: String, range: Range<Int>)] = []
      while let member = try cursor.next() {
        let name = String(decoding: bytes[member.name], as: UTF8.self)
        members.append((name, member.value))
      }
      return members
    }
  }

  /// The value of a member, as JSON; nil: there is none, or it is null.
  func json(_ name: String) -> [UInt8]? {
    guard let value = written(name), !value.elementsEqual("null".utf8) else { return nil }
    return value
  }

  /// The value of a member, as JSON, also if it is null; nil: there is none.
  func written(_ name: String) -> [UInt8]? {
    members.first { $0.name.hasSameBytes(as: name) }.map { Array(bytes[$0.range]) }
  }

  /// The same as a value.
  func value(_ name: String) throws(JSONError) -> JSONValue? {
    guard let json = json(name) else { return nil }
    return try JSONValue(parsing: json)
  }

  /// The elements of a member that is an array; nil: there is none.
  func elements(_ name: String) throws(JSONError) -> [[UInt8]]? {
    guard let json = json(name) else { return nil }
    return try json.withBorrowedBytes { (bytes) throws(JSONError) in
      var elements = try ElementCursor(ByteScanner(bytes), at: 0)
      var list: [[UInt8]] = []
      while let range = try elements.next() {
        list.append(Array(UnsafeRawBufferPointer(rebasing: bytes[range])))
      }
      return list
    }
  }
}
