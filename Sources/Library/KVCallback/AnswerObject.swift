internal import KVBase
internal import KVJSON
internal import KVSync

/// A JSON object that a backend has answered, or a part of it: its members are found, not parsed, so that records
/// stay the bytes that they are.
///
/// Everything that is not as it should be throws `.proto`.
struct AnswerObject {
  /// The whole answer.
  let bytes: [UInt8]
  private let members: [RecordID: Range<Int>]

  init(_ bytes: [UInt8]) throws(StoreError) {
    try self.init(bytes, nil)
  }

  /// An object within the answer.
  func object(at range: Range<Int>) throws(StoreError) -> AnswerObject {
    try AnswerObject(bytes, range)
  }

  private init(_ bytes: [UInt8], _ range: Range<Int>?) throws(StoreError) {
    self.bytes = bytes
    members = try Self.scanning(bytes) { (scanner) throws(JSONError) in
      var cursor = try MemberCursor(scanner, at: range?.lowerBound ?? scanner.skipSpace(0))
      var members: [RecordID: Range<Int>] = [:]
      while let member = try cursor.next() {
        let name = RecordID(String(decoding: scanner.unescaped(member.name), as: UTF8.self))
        guard members.updateValue(member.value, forKey: name) == nil else {
          throw scanner.unexpected(member.name.lowerBound)
        }
      }
      let rest = range?.upperBound ?? scanner.skipSpace(cursor.position)
      guard range != nil || rest == bytes.count else { throw scanner.unexpected(rest) }
      return members
    }
  }

  private static func scanning<R>(
    _ bytes: [UInt8], _ body: (ByteScanner) throws(JSONError) -> R
  ) throws(StoreError) -> R {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(JSONError) in try body(ByteScanner(bytes)) }
    }
    do throws(JSONError) { return try result.get() } catch { throw .badAnswer(error) }
  }

  // MARK: Members

  /// Where a member is; nil if it is missing or null.
  func range(_ name: String) -> Range<Int>? {
    guard let range = members[RecordID(name)], bytes[range].first != UInt8(ascii: "n") else {
      return nil
    }
    return range
  }

  /// A member as JSON; nil if it is missing or null.
  func text(of name: String) -> String? {
    range(name).map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  /// Whether the member is there, if only as null.
  func has(_ name: String) -> Bool { members[RecordID(name)] != nil }

  /// A member parsed; nil if it is missing or null.
  func value(_ name: String) throws(StoreError) -> JSONValue? {
    guard let range = range(name) else { return nil }
    do throws(JSONError) { return try JSONValue(parsing: Array(bytes[range])) } catch {
      throw .badAnswer(error)
    }
  }

  func text(_ name: String) throws(StoreError) -> String? {
    guard let value = try value(name) else { return nil }
    guard let text = value.stringValue else { throw .unfitMember(name, "a text") }
    return text
  }

  /// A member that is true or false; false if it is missing.
  func bool(_ name: String) throws(StoreError) -> Bool {
    guard let value = try value(name) else { return false }
    guard case .bool(let flag) = value else { throw .unfitMember(name, "true or false") }
    return flag
  }

  /// Where the elements of an array are.
  func elements(_ name: String) throws(StoreError) -> [Range<Int>] {
    guard let range = range(name), bytes[range].first == UInt8(ascii: "[") else {
      throw .unfitMember(name, "an array")
    }
    return try Self.scanning(bytes) { (scanner) throws(JSONError) in
      var cursor = try ElementCursor(scanner, at: range.lowerBound)
      var elements: [Range<Int>] = []
      while let element = try cursor.next() { elements.append(element) }
      return elements
    }
  }

  /// Lends the array `records` to `body`, as one batch.
  func lendRecords(
    _ format: RecordFormat, to body: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let range = range("records") else { throw .unfitMember("records", "an array") }
    try RecordBatch.lend(Array(bytes[range]), format, to: body)
  }

  /// The bytes of an object.
  func record(at range: Range<Int>) throws(StoreError) -> [UInt8] {
    guard bytes[range].first == UInt8(ascii: "{") else {
      throw .badAnswer("The backend sent a record that is not a JSON object.")
    }
    return Array(bytes[range])
  }
}

extension StoreError {
  static func unfitMember(_ name: String, _ wanted: String) -> StoreError {
    .badAnswer("The member \"\(name)\" of the backend's answer is not \(wanted).")
  }
}
