import KVBase
import KVCallback
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport

/// A store of one collection on a backend of callbacks.
final class TestEngine {
  let backend: MemoryBackend
  let remote: CallbackRemote
  let engine: CollectionEngine
  private let directory = TemporaryDirectory(inMemory: true)

  init(
    _ backend: MemoryBackend = MemoryBackend(), _ description: JSONObject = [:],
    type: StoreType = .sync
  ) throws {
    self.backend = backend
    remote = CallbackRemote(
      CallbackBackend("memory", try BackendDescription(description), handler: backend))
    let storage = try Storage(path: directory.file("data.kvs"), durability: .normal)
    engine = CollectionEngine(
      collection: "things", type: type, local: storage, remote: layers(around: remote),
      sendGate: SendGate(),
      writer: { nil })
  }

  @discardableResult
  func save(_ entity: JSONObject, _ policy: WritePolicy = .forceLocal) throws -> JSONValue {
    let bytes = JSONValue.object(entity).bytes
    let outline = try EntityScanner.outline(of: bytes)
    let options = CallOptions(readPolicy: .forceLocal, writePolicy: policy, call: Call())
    let saved = try bytes.withBorrowedBytes { try engine.save($0, outline, options: options).value }
    return try JSONValue(parsing: saved)
  }

  /// What a find brings, as text of one member each.
  func found(
    _ filter: String? = nil, _ modifiers: String? = nil, policy: ReadPolicy = .forceLocal,
    member: String = "n", call: Call = Call()
  ) throws -> [String] {
    let options = CallOptions(readPolicy: policy, writePolicy: .forceLocal, call: call)
    let query = try Query(filter: filter, modifiers: modifiers)
    let cursor = try engine.find(query, options).value
    var found: [String] = []
    while let bytes = try cursor.next({ Array($0) }) {
      found.append(try JSONValue(parsing: bytes)[member]?.text ?? "-")
    }
    return found
  }
}

/// The error that a body throws.
func failure<R>(_ body: () throws -> R) -> StoreError? {
  do {
    _ = try body()
    return nil
  } catch { return error as? StoreError }
}
