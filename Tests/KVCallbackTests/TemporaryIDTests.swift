import KVBase
import KVCallback
import KVJSON
import KVObjects
import KVSync
import Testing

/// Contexts over a custom store that chooses the ids of new objects.
@Suite("Temporary ids") struct TemporaryIDTests {
  private let memory = MemoryStore([.obtainIDs])
  private let context: ObjectContext

  init() throws {
    let store = CallbackStore(
      "memory", try BackendDescription(["version": ["path": "rev", "kind": "integer"]]),
      handler: memory)
    var options = ContextOptions()
    options.relationships = [
      Relationship("bug", from: "notes", to: "bugs", keys: ["bug"], at: .source, isToMany: false)
    ]
    context = try ObjectContext(
      try store.objects(at: StoreLocation(appKey: "tests", directory: "/data", timeout: 5)),
      options)
  }

  private func insert(_ record: JSONObject, into collection: String) throws -> ObjectID {
    try context.insert(JSONValue.object(record).bytes, into: collection)
  }

  private func body(_ id: ObjectID) throws -> JSONValue {
    try JSONValue(parsing: try #require(try context.body(of: id)))
  }

  @Test("are replaced by the save, references follow, and the old ones still name the objects")
  func save() throws {
    let bug = try insert(["text": "crash"], into: "bugs")
    #expect(try context.status(of: bug)["isTemporary"] == true)
    let note = try insert(["bug": .string(bug.key.text)], into: "notes")
    // The store numbers the objects of a request.
    let result = try context.save()
    #expect(result.permanentIDs.map(\.temporary) == [bug, note])
    #expect(result.permanentIDs.map(\.permanent.key.text) == ["chosen-0", "chosen-1"])
    #expect(try body(bug)["_id"] == "chosen-0")
    #expect(try body(note)["bug"] == "chosen-0")
    #expect(try context.object("bug", of: note) == ObjectID("bugs", "chosen-0"))
    #expect(try context.status(of: bug)["isTemporary"] == false)
    #expect(try context.save().permanentIDs.isEmpty)
  }

  @Test("that a failed save has replaced are told by the next one, or when they are asked for")
  func failedSave() throws {
    for asks in [false, true] {
      let bug = try insert(["text": "crash"], into: "bugs")
      memory.intercept { operation, number, _ in
        guard operation == .save else { return false }
        return complete(number, #"{"saved":[]}"#) == .accepted
      }
      #expect(failure { _ = try context.save() }?.kind == .proto)
      memory.intercept { _, _, _ in false }
      let told = asks ? try context.obtainPermanentIDs() : try context.save().permanentIDs
      #expect(told.map(\.temporary) == [bug])
      #expect(try context.save().permanentIDs.isEmpty)
      try context.delete(bug)
      _ = try context.save()
    }
    #expect(memory.count(.obtainIDs) == 2)
  }
}
