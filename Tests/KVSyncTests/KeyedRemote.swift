import KVBase
import KVJSON
import KVQuery
import KVSync

/// A backend in memory whose records are of a format, with versions that count up. What it gives may be late: see
/// `showDeletion` and `showLate`.
///
/// `@unchecked Sendable`: a lock protects what it has.
final class KeyedRemote: Remote, @unchecked Sendable {
  let format: RecordFormat
  let keepsConditions = true
  private let records = Monitor<[RecordID: JSONObject]>([:])
  private let written = Monitor(8)
  /// What its answers show as deleted, whatever it has.
  private let deletions = Monitor<[RecordID: RecordVersion]>([:])
  /// What its answers to queries show of a record.
  private let late = Monitor<[RecordID: JSONObject]>([:])

  init(_ format: RecordFormat) { self.format = format }

  func format(of collection: String) -> RecordFormat { format }

  subscript(_ key: String) -> JSONObject? { records.withLock { $0[RecordID(key)] } }

  var count: Int { records.withLock { $0.count } }

  /// Stores a record, as somebody else does.
  @discardableResult
  func publish(_ record: JSONObject) throws -> [UInt8] {
    try put(JSONValue.object(record).bytes)
  }

  /// From now on answers show a record as this, version included; nil: not at all.
  func show(_ record: JSONObject?, as key: String) {
    records.withLock { $0[RecordID(key)] = record }
  }

  /// From now on answers show a record as it was when it was deleted, in this version.
  func showDeletion(of key: String, at version: Int) {
    deletions.withLock { $0[RecordID(key)] = RecordVersion("\(version)") }
  }

  /// From now on queries find a record as this, version included; by its id it is found as it is.
  func showLate(_ record: JSONObject, as key: String) {
    late.withLock { $0[RecordID(key)] = record }
  }

  func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let late = late.withLock { $0 }
    let records = records.withLock { $0 }.map { (key: $0.key, record: late[$0.key] ?? $0.value) }
    return try lend(query, of: records, to: receive)
  }

  func find(
    ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let records = records.withLock { records in
      ids.compactMap { id in records[RecordID(id)].map { (key: RecordID(id), record: $0) } }
    }
    return try lend(Query(), of: records, to: receive)
  }

  private func lend(
    _ query: Query, of records: [(key: RecordID, record: JSONObject)],
    to receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let deleted = deletions.withLock { $0 }
    let all = records.filter { deleted[$0.key] == nil }.map { JSONValue.object($0.record).bytes }
    let matcher = query.of(format).matcher
    let found = all.filter { (try? matcher?.matches($0)) ?? true }
    let shown = query.of(format).shown(found)
    let array = Array("[".utf8) + shown.joined(separator: Array(",".utf8)) + Array("]".utf8)
    try RecordBatch.lend(
      array, format,
      deletions: deleted.map { ChangeBatch.Deletion(id: $0.key.text, version: $0.value) },
      to: receive)
    return ReadAnswer()
  }

  func find(id: String, in collection: String, call: Call) throws(StoreError) -> [UInt8] {
    let isDeleted = deletions.withLock { $0[RecordID(id)] != nil }
    guard !isDeleted, let record = self[id] else { throw StoreError(.notFound, "There is none.") }
    return JSONValue.object(record).bytes
  }

  func count(_ query: Query, in collection: String, call: Call) throws(StoreError) -> CountAnswer {
    var count = 0
    _ = try find(query, in: collection, call: call) { count += $0.count }
    return CountAnswer(count: count, startedAt: nil)
  }

  var removesByReading: Bool { true }

  func remove(_ query: Query, in collection: String, call: Call) throws(StoreError) -> Int {
    var found: [String] = []
    _ = try find(query, in: collection, call: call) { batch in
      found += batch.outlines.compactMap(\.id)
    }
    for id in found { _ = try apply(.delete(id: id)) }
    return found.count
  }

  func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    for (index, write) in writes.enumerated() {
      outcome(index, Result { () throws(StoreError) in try apply(write) })
    }
  }

  private func apply(_ write: RemoteWrite) throws(StoreError) -> RemoteOutcome {
    switch write {
    case .create(let body): return .stored(try put(body))
    case .update(let id, let body, let condition, _):
      try check(condition, id)
      return .stored(try put(body))
    case .delete(let id, let condition):
      try check(condition, id)
      guard records.withLock({ $0.removeValue(forKey: RecordID(id)) }) != nil else {
        return .deleted(0)
      }
      return .deleted(1, at: RecordVersion("\(nextVersion())"))
    case .createMany, .batch, .change: throw StoreError(.unsupported, "One at a time.")
    }
  }

  private func put(_ body: [UInt8]) throws(StoreError) -> [UInt8] {
    guard let key = format.key(of: body),
      var record = (try? JSONValue(parsing: body))?.objectValue
    else { throw StoreError(.invalid, "No record.") }
    record["rev"] = .int(Int64(nextVersion()))
    records.withLock { $0[RecordID(key)] = record }
    return JSONValue.object(record).bytes
  }

  private func nextVersion() -> Int {
    written.withLock { count in
      count += 1
      return count
    }
  }

  private func check(_ condition: RemoteCondition, _ id: String) throws(StoreError) {
    let version = self[id].flatMap { format.version(of: JSONValue.object($0).bytes) }
    switch condition {
    case .none: return
    case .isMissing where version == nil: return
    case .version(let wanted) where version == wanted: return
    case .version where version == nil: throw StoreError(.notFound, "There is none.")
    default: throw StoreError(.conflict, "Another version.")
    }
  }
}
