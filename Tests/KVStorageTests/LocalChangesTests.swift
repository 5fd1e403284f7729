import KVJSON
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Local changes") struct LocalChangesTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws { storage = try openStorage(in: directory) }

  @Test("a save without _id gets one and is queued as a create") func create() throws {
    let saved = try storage.save(#"{"name":"Ulm"}"#)
    let id = try #require(saved.first?.id)
    #expect(id.utf8.count == 32)
    #expect(try storage.get(id) == #"{"_id":"\#(id)","name":"Ulm"}"#)
    #expect(try storage.get(id) == saved.first.map { String($0.bytes) })
    let write = try #require(try storage.write(id))
    #expect(write.operation == .create)
    #expect(write.attempts == 0)
    #expect(write.createdAt == write.changedAt)
    #expect(try storage.base(id) == nil)
  }

  @Test("a save with _id is queued as an update, and keeps the bytes as they came") func update()
    throws
  {
    try storage.save(#"{ "a" : 1.50, "_id":"x"}"#)
    #expect(try storage.get("x") == #"{ "a" : 1.50, "_id":"x"}"#)
    #expect(try storage.write("x")?.operation == .update)
  }

  @Test("entities are saved in the input's order, the last of one id counting") func batch() throws
  {
    let saved = try storage.save(#"{"_id":"b","n":1}"#, #"{"n":2}"#, #"{"_id":"b","n":3}"#)
    #expect(saved.map(\.id)[0] == "b")
    #expect(saved.count == 3)
    #expect(try storage.get("b") == #"{"_id":"b","n":3}"#)
    #expect(try storage.queue().map(\.id) == ["b", saved[1].id])
  }

  @Test("changing again keeps the position in the queue and changes the revision") func again()
    throws
  {
    try storage.save(#"{"_id":"a","n":1}"#)
    try storage.save(#"{"_id":"b"}"#)
    let before = try #require(try storage.write("a"))
    try storage.save(#"{"_id":"a","n":2}"#)
    let after = try #require(try storage.write("a"))
    #expect(after.order == before.order)
    #expect(after.createdAt == before.createdAt)
    #expect(after.revision != before.revision)
    #expect(try storage.queue().map(\.id) == ["a", "b"])
  }

  @Test("the first change of a clean entity keeps what it was") func base() throws {
    try storage.store(#"{"_id":"a","n":1}"#)
    try storage.save(#"{"_id":"a","n":2}"#)
    try storage.save(#"{"_id":"a","n":3}"#)
    #expect(try storage.base("a") == #"{"_id":"a","n":1}"#)
    #expect(try storage.remove("a", in: "c") == 1)
    #expect(try storage.base("a") == #"{"_id":"a","n":1}"#)
    #expect(try storage.write("a")?.operation == .delete)
  }

  @Test("a deletion hides the entity and is queued with what it was") func remove() throws {
    try storage.store(#"{"_id":"a","n":1}"#)
    #expect(try storage.remove("a", in: "c") == 1)
    #expect(try storage.get("a") == nil)
    #expect(try storage.base("a") == #"{"_id":"a","n":1}"#)
    #expect(try storage.remove("a", in: "c") == 0)
    #expect(try storage.remove("nothing", in: "c") == 0)
    #expect(try storage.queue().count == 1)
  }

  @Test("deleting by query queues one deletion for each, and respects the page") func removeMany()
    throws
  {
    try storage.store((1...9).map { #"{"_id":"\#($0)","n":\#($0)}"# })
    let page = try query(#"{"n":{"$gt":4}}"#, #"{"sort":{"n":-1},"limit":2}"#)
    #expect(try storage.remove(page, in: "c") == 2)
    #expect(Set(try storage.queue().map(\.id)) == ["9", "8"])
    #expect(try storage.find().count == 7)
    #expect(try storage.remove(query("{}"), in: "c") == 7)
    #expect(try storage.find().isEmpty)
    #expect(try storage.queue().count == 9)
  }

  @Test(
    "queued and new change collapse as the rules say",
    arguments: [nil, .create, .update, .delete] as [PendingWrite.Operation?],
    [.update, .delete] as [PendingWrite.Operation])
  func collapsing(queued: PendingWrite.Operation?, new: PendingWrite.Operation) throws {
    for attempts in 0...1 {
      let id = try prepare(queued, attempts: attempts)
      switch new {
      case .delete: _ = try storage.remove(id, in: "c")
      default: try storage.save(#"{"_id":"\#(id)","n":2}"#)
      }
      // A deletion of what is hidden already changes nothing.
      let isNothing = queued == .delete && new == .delete
      let expected =
        isNothing
        ? .delete : PendingWrite.collapsing(queued.map { ($0, attempts) }, with: new)
      #expect(try storage.write(id)?.operation == expected)
      #expect(try (storage.get(id) == nil) == (new == .delete))
      _ = try storage.clear(nil, in: "c")
    }
  }

  /// An entity with that write queued, sent so many times.
  private func prepare(_ queued: PendingWrite.Operation?, attempts: Int) throws -> String {
    var id = "x"
    switch queued {
    case .create?: id = try storage.save(#"{"n":1}"#)[0].id
    case .update?: try storage.save(#"{"_id":"x","n":1}"#)
    case .delete?:
      try storage.store(#"{"_id":"x","n":1}"#)
      _ = try storage.remove("x", in: "c")
    case nil: try storage.store(#"{"_id":"x","n":1}"#)
    }
    if attempts > 0, let write = try storage.write(id) { _ = try storage.beginSending([write]) }
    return id
  }

  @Test("a create that was sent and then edited is still known to have been sent") func sentCreate()
    throws
  {
    let id = try storage.save(#"{"n":1}"#)[0].id
    let write = try #require(try storage.write(id))
    _ = try storage.beginSending([write])
    #expect(try storage.edit(#"{"n":2}"#, id))
    #expect(try storage.write(id)?.attempts == 0)
    _ = try storage.remove(id, in: "c")
    #expect(try storage.write(id)?.operation == .delete)
  }

  @Test("collections are apart") func collections() throws {
    try storage.save(#"{"_id":"a"}"#, in: "one")
    try storage.save(#"{"_id":"a"}"#, #"{"_id":"b"}"#, in: "zwei \"'%")
    #expect(try storage.pendingCount(in: "one") == 1)
    #expect(try storage.pendingCount(in: "zwei \"'%") == 2)
    #expect(try storage.pendingCount(in: "none") == 0)
    #expect(try storage.pendingCount(in: nil) == 3)
    #expect(try storage.clear(nil, in: "one") == 1)
    #expect(try storage.find(in: "zwei \"'%").count == 2)
  }
}
