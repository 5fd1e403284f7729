import KVBase
import KVCallback
import KVJSON
import KVSync

/// A backend in memory that answers in JSON, at once and on the calling thread, unless a test wants otherwise.
final class MemoryBackend: BackendHandler {
  struct State {
    var records: [String: JSONObject] = [:]
    /// What happened, in order: a token is how many of these somebody has seen.
    var log: [JSONValue] = []
    var pageSize = 2
    var requests: [(operation: BackendOperation, request: JSONValue)] = []
    var cancelled: [UInt64] = []
    /// What takes a request in place of us; true: it did.
    var takes: @Sendable (BackendOperation, UInt64, JSONValue) -> Bool = { _, _, _ in false }
  }

  let state = Monitor(State())
  let lacks: Set<BackendOperation>

  init(lacking lacks: Set<BackendOperation> = [.live]) { self.lacks = lacks }

  var requests: [(operation: BackendOperation, request: JSONValue)] {
    state.withLock { $0.requests }
  }

  /// Lets `takes` have requests; if it gives true the request is its own.
  func intercept(_ takes: @escaping @Sendable (BackendOperation, UInt64, JSONValue) -> Bool) {
    state.withLock { $0.takes = takes }
  }

  func handles(_ operation: BackendOperation) -> Bool {
    [.fetch, .fetchIDs, .changes, .write, .live].contains(operation) && !lacks.contains(operation)
  }

  func cancel(_ number: UInt64) { state.withLockNotifyingAll { $0.cancelled.append(number) } }

  func begin(_ operation: BackendOperation, number: UInt64, request json: [UInt8]) {
    let request = (try? JSONValue(parsing: json)) ?? .null
    let takes = state.withLock { state in
      state.requests.append((operation, request))
      return state.takes
    }
    guard !takes(operation, number, request) else { return }
    let answer = answer(operation, request)
    _ = complete(number, answer.text)
  }

  /// The right answer to a request.
  func answer(_ operation: BackendOperation, _ request: JSONValue) -> JSONValue {
    state.withLock { state in
      switch operation {
      case .fetch: state.page(request)
      case .fetchIDs:
        [
          "records": .array(
            (request["ids"]?.arrayValue ?? []).compactMap { id in
              state.records[id.stringValue ?? ""].map { .object($0) }
            })
        ]
      case .changes:
        [
          "changes": .array(
            Array(state.log.dropFirst(Int(request["since"]?.stringValue ?? "") ?? 0))),
          "token": .string(String(state.log.count)),
        ]
      case .write:
        ["results": .array((request["writes"]?.arrayValue ?? []).map { state.write($0) })]
      case .live, .load, .save, .relationship, .obtainIDs: .null
      }
    }
  }

  /// Puts a record there as others would.
  func put(_ record: JSONObject) {
    state.withLock {
      _ = $0.write(["op": "update", "id": record["_id"] ?? .null, "record": .object(record)])
    }
  }

  func delete(_ id: String) {
    state.withLock { _ = $0.write(["op": "delete", "id": .string(id)]) }
  }
}

extension MemoryBackend.State {
  fileprivate func page(_ request: JSONValue) -> JSONValue {
    let after = request["after"]?.stringValue ?? ""
    let ids = records.keys.sorted().filter { $0 > after }
    let page = ids.prefix(pageSize)
    return [
      "records": .array(page.compactMap { records[$0].map { .object($0) } }),
      "next": page.count < ids.count ? .string(page.last ?? "") : .null,
      "token": .string(String(log.count)),
    ]
  }

  fileprivate mutating func write(_ write: JSONValue) -> JSONValue {
    guard let id = write["id"]?.stringValue else { return ["refused": ["message": "No id."]] }
    guard write["op"] != "delete" else {
      guard records.removeValue(forKey: id) != nil else { return ["deleted": false] }
      log.append(["delete": .string(id)])
      return ["deleted": true]
    }
    if write["op"] == "create" || write["if"] == .null, let there = records[id] {
      return ["conflict": .object(there)]
    }
    guard let record = write["record"]?.objectValue, record["poison"] == nil else {
      return ["refused": ["message": "Poison."]]
    }
    records[id] = record
    log.append(["upsert": .object(record)])
    return ["stored": .object(record)]
  }
}

/// Completes a request with a text.
func complete(_ number: UInt64, _ json: String) -> PendingRequests.Completion {
  json.withBorrowedBytes { PendingRequests.complete(number, with: $0) }
}
