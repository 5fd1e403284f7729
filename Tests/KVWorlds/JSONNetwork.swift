import KVBase
import KVCallback
import KVJSON
import KVQuery
import KVSync

/// The network of a simulated world, reached through functions that speak JSON, as a host of the C interface has them: what the
/// engine gets from a backend of callbacks has to be as good as what it gets from any other.
final class JSONNetwork: BackendHandler {
  private let network: FakeNetwork
  private let pageSize: Int

  init(_ network: FakeNetwork, pageSize: Int) {
    self.network = network
    self.pageSize = pageSize
  }

  /// The backend as a client sees it.
  var remote: CallbackRemote {
    get throws {
      let description: JSONObject = [
        "version": ["path": ["_kmd", "lmt"], "ordered": true], "permissions": "_acl",
        "creator": "creator",
        "conditions": .bool(network.keepsConditions), "requestsAtOnce": 1,
        "writesPerRequest": .int(Int64(network.limits.writesPerBatch)), "idsPerRequest": 5,
      ]
      return CallbackRemote(
        CallbackBackend("world", try BackendDescription(description), handler: self))
    }
  }

  func handles(_ operation: BackendOperation) -> Bool {
    [.fetch, .fetchIDs, .changes, .write].contains(operation)
  }

  func cancel(_ number: UInt64) {}

  func begin(_ operation: BackendOperation, number: UInt64, request json: [UInt8]) {
    do throws(StoreError) {
      guard let request = try? JSONValue(parsing: json) else { throw StoreError(.invalid, "JSON") }
      let answer = try answer(operation, request).bytes
      _ = answer.withBorrowedBytes { PendingRequests.complete(number, with: $0) }
    } catch {
      _ = PendingRequests.complete(number, failing: Self.asHost(error))
    }
  }

  /// As if a host had said it by its status.
  private static func asHost(_ error: StoreError) -> StoreError {
    StoreError(
      hostStatus: error.kind.code,
      JSONObject([.init("message", .string(error.message))]).text.utf8.map { $0 })
  }

  private func answer(
    _ operation: BackendOperation, _ request: JSONValue
  ) throws(StoreError) -> JSONValue {
    switch operation {
    case .fetch: try page(request)
    case .fetchIDs: try records(request["ids"]?.arrayValue ?? [])
    case .changes: try changes(since: request["since"]?.stringValue ?? "")
    case .write: ["results": .array(try results(of: request["writes"]?.arrayValue ?? []))]
    case .live, .load, .save, .relationship, .obtainIDs: .null
    }
  }

  // MARK: Reading

  private func page(_ request: JSONValue) throws(StoreError) -> JSONValue {
    var query = Query()
    if let after = request["after"]?.stringValue {
      query = Query(.field(.id, [.compare(.greater, .string(after))]))
    }
    query.sort = [Query.SortKey(.id)]
    query.limit = pageSize
    let (found, answer) = try find(query)
    let next = found.count == pageSize ? found.last?["_id"] : nil
    return [
      "records": .array(found), "next": next ?? .null,
      "token": (answer.startedAt?.text).map { .string($0) } ?? .null,
    ]
  }

  private func records(_ ids: [JSONValue]) throws(StoreError) -> JSONValue {
    ["records": .array(try find(Query(.field(.id, [.isIn(ids)]))).found)]
  }

  private func find(_ query: Query) throws(StoreError) -> (found: [JSONValue], answer: ReadAnswer) {
    var found: [JSONValue] = []
    let answer = try network.find(query, in: "things", call: Call()) { found += Self.values($0) }
    return (found, answer)
  }

  private static func values(_ batch: RecordBatch) -> [JSONValue] {
    batch.outlines.compactMap { try? JSONValue(parsing: Array(batch.record($0))) }
  }

  private func changes(since: String) throws(StoreError) -> JSONValue {
    var changes: [JSONValue] = []
    let answer = try network.changes(
      of: Query(), since: BackendMoment(since), in: "things", call: Call()
    ) { batch in
      switch batch {
      case .saved(let records): changes += Self.values(records).map { ["upsert": $0] }
      case .deleted(let gone): changes += gone.map { ["delete": .string($0.id)] }
      case .left(let ids): changes += ids.map { ["delete": .string($0)] }
      }
    }
    guard let answer else { return ["unknown": true] }
    return ["changes": .array(changes), "token": .string(answer.startedAt?.text ?? "")]
  }

  // MARK: Writing

  private func results(of writes: [JSONValue]) throws(StoreError) -> [JSONValue] {
    let requests = writes.map(Self.write)
    let request = requests.count == 1 ? requests[0] : RemoteWrite.batch(requests)
    var ended: Result<RemoteOutcome, StoreError>?
    network.send([request], in: "things", call: Call()) { ended = $1 }
    guard let ended else { return [] }
    if requests.count == 1 {
      if case .failure(let error) = ended, error.kind == .network { throw error }
      return [try Self.result(ended)]
    }
    guard case .batch(let outcomes) = try ended.get() else { return [] }
    return try outcomes.map { (outcome) throws(StoreError) in try Self.result(outcome) }
  }

  private static func write(_ write: JSONValue) -> RemoteWrite {
    let record = write["record"]?.bytes ?? []
    let id = write["id"]?.stringValue ?? ""
    var condition = RemoteCondition.none
    if let wanted = write["if"] {
      condition = wanted.stringValue.map { .version(RecordVersion($0)) } ?? .isMissing
    }
    switch write["op"]?.stringValue {
    case "create": return .create(record)
    case "delete": return .delete(id: id, if: condition)
    default: return .update(id: id, record, if: condition)
    }
  }

  /// One that says nothing about a write is no result at all.
  private static func result(
    _ outcome: Result<RemoteOutcome, StoreError>
  ) throws(StoreError) -> JSONValue {
    switch outcome {
    case .success(.stored(let record)): ["stored": (try? JSONValue(parsing: record)) ?? .null]
    case .success(.deleted(let count, _)): ["deleted": .bool(count > 0)]
    case .success: [:]
    case .failure(let error) where error.kind == .conflict || error.kind == .notFound:
      ["conflict": .null]
    case .failure(let error) where error.kind == .invalid:
      ["refused": ["message": .string(error.message)]]
    case .failure(let error) where error.kind == .server:
      ["later": ["message": .string(error.message)]]
    case .failure: [:]
    }
  }
}
