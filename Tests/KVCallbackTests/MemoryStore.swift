import KVBase
import KVCallback
import KVJSON
import KVSync

/// A custom store in memory that answers in JSON, at once and on the calling thread, unless a test wants otherwise.
final class MemoryStore: BackendHandler {
  struct State {
    /// By collection and id, with an integer `rev`.
    var records: [String: [String: JSONObject]] = [:]
    var uuid = "memory-1"
    var requests: [(operation: BackendOperation, request: JSONValue)] = []
    var cancelled = 0
    /// What takes a request in place of us; true: it did.
    var takes: @Sendable (BackendOperation, UInt64, JSONValue) -> Bool = { _, _, _ in false }
  }

  let state = Monitor(State())
  let operations: Set<BackendOperation>

  init(_ more: Set<BackendOperation> = []) {
    operations = more.union([.load, .fetch, .fetchIDs, .save])
  }

  func intercept(_ takes: @escaping @Sendable (BackendOperation, UInt64, JSONValue) -> Bool) {
    state.withLock { $0.takes = takes }
  }

  func count(_ operation: BackendOperation) -> Int {
    state.withLock { $0.requests.count { $0.operation == operation } }
  }

  func handles(_ operation: BackendOperation) -> Bool { operations.contains(operation) }

  func cancel(_ number: UInt64) { state.withLockNotifyingAll { $0.cancelled += 1 } }

  func begin(_ operation: BackendOperation, number: UInt64, request json: [UInt8]) {
    let request = (try? JSONValue(parsing: json)) ?? .null
    let takes = state.withLock { state in
      state.requests.append((operation, request))
      return state.takes
    }
    guard !takes(operation, number, request) else { return }
    _ = complete(number, answer(operation, request).text)
  }

  func answer(_ operation: BackendOperation, _ request: JSONValue) -> JSONValue {
    state.withLock { state in
      let records = state.records[request["collection"]?.stringValue ?? ""] ?? [:]
      switch operation {
      case .load: return ["type": "memory", "uuid": .string(state.uuid)]
      case .fetch:
        return [
          "records": .array(records.keys.sorted().compactMap { records[$0].map { .object($0) } })
        ]
      case .fetchIDs:
        let ids = request["ids"]?.arrayValue?.compactMap(\.stringValue) ?? []
        return ["records": .array(ids.compactMap { records[$0].map { .object($0) } })]
      case .save: return state.save(request)
      case .obtainIDs:
        let count = request["objects"]?.arrayValue?.count ?? 0
        return ["ids": .array((0..<count).map { .string("chosen-\($0)") })]
      case .relationship:
        return ["related": .array((request["ids"]?.arrayValue ?? []).map { .array([$0]) })]
      case .changes, .write, .live: return .null
      }
    }
  }
}

extension MemoryStore.State {
  fileprivate mutating func save(_ request: JSONValue) -> JSONValue {
    let changes = ["inserted", "updated", "deleted"].map { request[$0]?.arrayValue ?? [] }
    var conflicts: [JSONValue] = []
    for change in changes.joined() {
      let there = records[change.collection]?[change.id]
      guard let wanted = change["if"], wanted != there?["rev"] ?? .null else { continue }
      conflicts.append([
        "collection": .string(change.collection), "id": .string(change.id),
        "record": there.map { .object($0) } ?? .null,
      ])
    }
    guard conflicts.isEmpty else { return ["conflicts": .array(conflicts)] }
    var saved: [JSONValue] = []
    for change in changes[0] + changes[1] {
      var record = change["record"]?.objectValue ?? [:]
      let revision = records[change.collection]?[change.id]?["rev"]?.intValue ?? 0
      record["rev"] = .int(revision + 1)
      records[change.collection, default: [:]][change.id] = record
      saved.append(.object(record))
    }
    let deleted = changes[2].map { change in
      JSONValue.bool(records[change.collection]?.removeValue(forKey: change.id) != nil)
    }
    return ["saved": .array(saved), "deleted": .array(deleted)]
  }
}

extension JSONValue {
  fileprivate var collection: String { self["collection"]?.stringValue ?? "" }
  fileprivate var id: String { self["id"]?.stringValue ?? "" }
}
