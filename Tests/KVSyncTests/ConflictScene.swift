import KVJSON
import KVQuery
import KVSync
import KVWorlds

/// An entity that was pulled, and then changed here and there.
struct ConflictScene {
  let fixture: TestEngine

  /// `keepsConditions` false: a backend like the hosted service, which knows no conditional writes.
  init(_ base: JSONObject = ["_id": "a", "n": 1, "m": 1], keepsConditions: Bool = true) throws {
    fixture = try TestEngine()
    fixture.remote.keepsConditions = keepsConditions
    try fixture.publish(base)
    _ = try fixture.engine.pull(Query(), Call())
  }

  func here(_ entity: JSONObject) throws { try fixture.save(entity) }
  func deletedHere() throws { _ = try fixture.engine.remove(id: "a", options: fixture.options()) }
  func there(_ entity: JSONObject) throws { try fixture.publish(entity) }
  func deletedThere() { _ = fixture.remote.backend.delete("a") }

  func push(_ strategy: ConflictStrategy) throws -> PushResult {
    try fixture.engine.push(Call(conflicts: strategy))
  }

  /// Members of the entity here and there; nil: it is not there.
  func both(_ member: String) throws -> [JSONValue?] {
    [try fixture.found().first?[member], fixture.backendValue("a", member)]
  }

  var state: PendingWrite.State? { try? fixture.engine.pending("a").write.state }
}
