internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSync

/// The option `sync`: how stores of the type `synced` are kept in step with the backend.
struct SyncedOptions {
  /// How many records a page is asked for.
  var pageSize = 100
  /// How many records a read of everything takes of each collection; nil: all.
  var maxRecords: Int?
  /// Seconds between two reads of what there is no subscription to.
  var interval = 60.0
  /// What is kept of each collection; of others everything is.
  var expressions: [RecordID: Query] = [:]

  init(_ reader: inout OptionReader) throws(StoreError) {
    guard var options = try reader.options("sync") else { return }
    pageSize = try options.integer("pageSize", 1...10_000) ?? pageSize
    maxRecords = try options.integer("maxRecords", 1...Int(Int32.max))
    interval = try options.seconds("interval", atLeast: 0.1) ?? interval
    for member in try options.members("expressions")?.members ?? [] {
      guard let filter = member.value.objectValue else {
        throw StoreError(
          .invalid, "The option \"expressions\" must be an object of collections and filters.")
      }
      expressions[RecordID(member.name)] = try Self.expression(filter.text)
    }
    try options.finish()
  }

  /// `text`: a filter.
  static func expression(_ text: String) throws(StoreError) -> Query {
    do throws(QueryError) { return try Query(filter: text) } catch {
      throw StoreError(.invalid, "The expression is not a filter: \(error.message).")
    }
  }
}
