internal import KVBase
internal import KVJSON

/// Reads all entities, or users, that a filter selects, in the order of their ids: page by page, so that memory does
/// not follow their number. Each is read as it is when its page is.
struct EntityPages {
  private static let pageSize = 1000

  private let app: AdminApp
  private let service: String
  private let collection: [String]
  private let filter: String?
  private let limit: Int?

  init(
    _ app: AdminApp, service: String, collection: [String] = [], filter: String?, limit: Int? = nil
  ) {
    self.app = app
    self.service = service
    self.collection = collection
    self.filter = filter
    self.limit = limit
  }

  /// Calls `body` with the JSON of each; an entity that is damaged on the server is a JSON string, its id.
  func read(_ body: ([UInt8]) throws(AdminFailure) -> Void) throws(AdminFailure) {
    var last: String?
    var remaining = limit ?? .max
    while remaining > 0 {
      let page = try page(after: last, limit: min(remaining, Self.pageSize))
      guard let end = page.last else { return }
      for entity in page { try body(entity) }
      last = try Self.id(end)
      remaining -= page.count
    }
  }

  /// An answer may be cut short by its length: only an empty one is the end.
  private func page(after last: String?, limit: Int) throws(AdminFailure) -> [[UInt8]] {
    var parts: [String] = []
    if let filter { parts.append(filter) }
    if let last { parts.append("{\"_id\":{\"$gt\":\(JSONValue.string(last).text)}}") }
    let query = parts.count > 1 ? "{\"$and\":[\(parts.joined(separator: ","))]}" : parts.first
    var parameters = [(name: "sort", value: "{\"_id\":1}"), (name: "limit", value: String(limit))]
    if let query { parameters.append(("query", query)) }
    let bytes = try app.send(
      "GET", service, path: collection, parameters: parameters,
      headers: [("X-Kvstored-Damaged", "named")])
    return try Self.elements(bytes)
  }

  /// The elements of an array.
  static func elements(_ bytes: [UInt8]) throws(AdminFailure) -> [[UInt8]] {
    do throws(JSONError) {
      return try bytes.withBorrowedBytes { (bytes) throws(JSONError) in
        let scanner = ByteScanner(bytes)
        var cursor = try ElementCursor(scanner, at: scanner.skipSpace(0))
        var elements: [[UInt8]] = []
        while let range = try cursor.next() {
          elements.append(Array(UnsafeRawBufferPointer(rebasing: bytes[range])))
        }
        return elements
      }
    } catch {
      throw AdminFailure(.failed, "the server has answered with no array: \(error.message)")
    }
  }

  static func value(_ bytes: [UInt8]) throws(AdminFailure) -> JSONValue {
    do { return try JSONValue(parsing: bytes) } catch {
      throw AdminFailure(.failed, "the server has answered with no JSON: \(error.message)")
    }
  }

  /// The id of an entity, or the string that stands for one that is damaged.
  static func id(_ bytes: [UInt8]) throws(AdminFailure) -> String {
    if bytes.first == UInt8(ascii: "\""), let id = try value(bytes).stringValue { return id }
    do throws(JSONError) {
      let outline = try EntityScanner.outline(of: bytes)
      if let id = outline.id { return id }
    } catch {
      throw AdminFailure(.failed, "an entity of the server is no JSON: \(error.message)")
    }
    throw AdminFailure(.failed, "an entity of the server has no _id")
  }
}
