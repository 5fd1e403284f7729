internal import KVBase
internal import KVJSON
internal import KVSync

/// What an operation gave: its data, and what went wrong in it. The text is validated once; what is in the data is parsed
/// on demand, since a page of records is copied and never becomes a tree.
struct AppSyncAnswer {
  let errors: [JSONObject]
  private let text: [UInt8]
  /// Where the object is that `data` has; nil: there is none.
  private let dataRange: Range<Int>?

  /// Throws `.proto` for what is no answer of GraphQL.
  init(_ text: [UInt8]) throws(StoreError) {
    self.text = text
    let members: (data: Range<Int>?, errors: Range<Int>?)
    do throws(JSONError) {
      members = try text.withBorrowedBytes { (bytes) throws(JSONError) in
        try Self.members(ByteScanner(bytes))
      }
    } catch {
      throw StoreError(.proto, "The backend's answer is no JSON: \(error.message).", cause: error)
    }
    dataRange = members.data
    errors =
      try members.errors.map { (range) throws(StoreError) in
        try Self.parsed(text[range]).arrayValue?.compactMap(\.objectValue) ?? []
      } ?? []
    guard dataRange != nil || !errors.isEmpty else {
      throw StoreError(.proto, "The backend's answer has neither data nor errors.")
    }
  }

  /// Validates the answer, and finds its two members.
  private static func members(
    _ scanner: ByteScanner
  ) throws(JSONError) -> (data: Range<Int>?, errors: Range<Int>?) {
    var found: (data: Range<Int>?, errors: Range<Int>?) = (nil, nil)
    let start = scanner.skipSpace(0)
    guard try scanner.byte(start) == UInt8(ascii: "{") else {
      let end = scanner.skipSpace(try scanner.skipValue(start, depth: 0))
      guard end == scanner.end else { throw scanner.unexpected(end) }
      return found
    }
    var members = try MemberCursor(scanner, at: start)
    while let member = try members.next() {
      if members.isName(member.name, "data"), scanner.isObject(at: member.value) {
        found.data = member.value
      } else if members.isName(member.name, "errors") {
        found.errors = member.value
      }
    }
    let end = scanner.skipSpace(members.position)
    guard end == scanner.end else { throw scanner.unexpected(end) }
    return found
  }

  private static func parsed(_ text: ArraySlice<UInt8>) throws(StoreError) -> JSONValue {
    do throws(JSONError) { return try JSONValue(parsing: Array(text)) } catch {
      throw StoreError(.proto, "The backend's answer is no JSON: \(error.message).", cause: error)
    }
  }

  /// The data; empty if there is none.
  func data() throws(StoreError) -> JSONObject {
    guard let dataRange else { return [:] }
    return try Self.parsed(text[dataRange]).objectValue ?? [:]
  }

  /// Whether the data is null, or all in it.
  var isEmpty: Bool {
    guard let dataRange else { return true }
    return text.withBorrowedBytes { bytes in
      let scanner = ByteScanner(bytes)
      var members = TrustedMembers(scanner, at: dataRange.lowerBound)
      while let member = members.next() {
        if !scanner.isNull(at: member.value) { return false }
      }
      return true
    }
  }

  /// Lends the object that a field of the data has; gives nil if there is none.
  func withObject<Result>(
    of field: String, _ body: (ByteScanner, TrustedMembers) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let dataRange else { return nil }
    return try text.withBorrowedBytes { (bytes) throws(StoreError) -> Result? in
      let scanner = ByteScanner(bytes)
      var members = TrustedMembers(scanner, at: dataRange.lowerBound)
      while let member = members.next() {
        guard scanner.text(member.name, equals: field) else { continue }
        guard scanner.isObject(at: member.value) else { return nil }
        return try body(scanner, TrustedMembers(scanner, at: member.value.lowerBound))
      }
      return nil
    }
  }
}
