import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import KVWorlds

/// An engine on a real file and a scripted backend.
final class TestEngine {
  let directory = TemporaryDirectory(inMemory: true)
  let storage: Storage
  let remote = ScriptedRemote()
  let sendGate = SendGate()
  let engine: CollectionEngine
  static let collection = "notes"

  init(
    _ type: StoreType = .sync, isLoggedIn: Bool = true,
    clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws {
    storage = try Storage(path: directory.file("data.kvs"), durability: .normal)
    engine = CollectionEngine(
      collection: Self.collection, type: type, local: storage, remote: layers(around: remote),
      sendGate: sendGate,
      writer: { () throws(StoreError) in
        guard isLoggedIn else { throw StoreError(.noUser, "Nobody.") }
        return "ana"
      }, clock: clock)
  }

  /// The members that the application's entities have; nil: all.
  var known: KnownMembers?

  func options(read: ReadPolicy? = nil, write: WritePolicy? = nil, ttl: Double? = nil)
    -> CallOptions
  {
    var call = Call()
    call.known = known
    return CallOptions(
      readPolicy: read ?? engine.type.readPolicy, writePolicy: write ?? engine.type.writePolicy,
      call: call, ttl: ttl)
  }

  // MARK: Entities

  @discardableResult
  func save(
    _ entity: JSONObject, if condition: WriteCondition = .none, _ write: WritePolicy? = nil
  ) throws -> JSONValue {
    try save(entity, if: condition, options: options(write: write))
  }

  @discardableResult
  func save(
    _ entity: JSONObject, if condition: WriteCondition = .none, options: CallOptions
  ) throws -> JSONValue {
    let bytes = JSONValue.object(entity).bytes
    let outline = try EntityScanner.outline(of: bytes)
    let saved = try bytes.withUnsafeBytes {
      try engine.save($0, outline, if: condition, options: options).value
    }
    return try JSONValue(parsing: saved)
  }

  func saveMany(
    _ entities: [JSONObject], if condition: WriteCondition = .none, _ write: WritePolicy? = nil
  ) throws -> SaveManyResult {
    let bytes = JSONValue.array(entities.map { .object($0) }).bytes
    let outlines = try EntityScanner.outlines(ofArray: bytes)
    return try bytes.withUnsafeBytes {
      try engine.saveMany($0, outlines, if: condition, options: options(write: write)).value
    }
  }

  /// What the backend has from somebody.
  func publish(_ entities: JSONObject..., by user: String = "bob") throws {
    for entity in entities {
      let body = JSONValue.object(entity).bytes
      if let id = entity["_id"]?.stringValue {
        _ = try remote.backend.replace(body, id, by: user)
      } else {
        _ = try remote.backend.create(body, by: user)
      }
    }
  }

  func found(_ query: Query = Query(), _ read: ReadPolicy = .forceLocal) throws -> [JSONValue] {
    try Self.all(try engine.find(query, options(read: read)).value)
  }

  static func all(_ cursor: any EntityCursor) throws -> [JSONValue] {
    defer { cursor.close() }
    var found: [JSONValue] = []
    while let bytes = try cursor.next({ Array($0) }) { found.append(try JSONValue(parsing: bytes)) }
    return found
  }

  /// The values of one member of all local entities, sorted.
  func local(_ member: String) throws -> [String] {
    try found().map { $0[member]?.text ?? "-" }.sorted()
  }

  func backendValue(_ id: String, _ member: String) -> JSONValue? {
    remote.backend.entities[id]?[member]
  }
}

/// What an operation fails with; nil if it succeeds.
func failure(_ body: () throws -> Void) -> StoreError? {
  do {
    try body()
    return nil
  } catch {
    return error as? StoreError
  }
}

extension JSONValue {
  var id: String { self["_id"]?.stringValue ?? "" }
}
