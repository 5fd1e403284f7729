import KVJSON
import KVQuery
import KVSync

/// An entity that was pulled, and then changed here and there.
struct ConflictScene {
  let bench: TestEngine

  /// `keepsConditions` false: a backend like the hosted service, which knows no conditional writes.
  init(_ base: JSONObject = ["_id": "a", "n": 1, "m": 1], keepsConditions: Bool = true) throws {
    bench = try TestEngine()
    bench.remote.keepsConditions = keepsConditions
    try bench.publish(base)
    _ = try bench.engine.pull(Query(), Call())
  }

  func here(_ entity: JSONObject) throws { try bench.save(entity) }
  func deletedHere() throws { _ = try bench.engine.remove(id: "a", bench.options()) }
  func there(_ entity: JSONObject) throws { try bench.publish(entity) }
  func deletedThere() { _ = bench.remote.backend.delete("a") }

  func push(_ strategy: ConflictStrategy) throws -> PushResult {
    try bench.engine.push(Call(conflicts: strategy))
  }

  /// Members of the entity here and there; nil: it is not there.
  func both(_ member: String) throws -> [JSONValue?] {
    [try bench.found().first?[member], bench.backendValue("a", member)]
  }

  var state: PendingWrite.State? { try? bench.engine.pending("a").write.state }
}
