import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Removing what belongs to a record") struct CascadeTests {
  /// A folder has folders and files; a file is in any number of folders by way of links, and has a note of its own.
  ///
  /// Made for each test: the leak checker does not see what is kept by an enumeration in a global value.
  private static var layout: RecordLayout {
    func rules(_ relations: RecordRelation...) -> CollectionRules {
      CollectionRules(format: .default, relations: relations) { $0 }
    }
    return RecordLayout(rules: [
      RecordID("folder"): rules(
        RecordRelation(
          name: "folders", collection: "folder", link: .referrers(["parent"]), isOwner: true),
        RecordRelation(
          name: "files", collection: "file",
          link: .join("link", keys: ["folder"], others: ["file"]), isOwner: true)),
      RecordID("file"): rules(
        RecordRelation(name: "note", collection: "note", link: .reference(["note"]), isOwner: true)),
      RecordID("link"): rules(
        RecordRelation(
          name: "folder", collection: "folder", link: .reference(["folder"]), isOwner: false)),
      RecordID("note"): rules(),
    ])
  }

  private let directory = TemporaryDirectory()

  private func open() throws -> Storage {
    let directory = DataDirectory(root: directory.path, appKey: "kid_test")
    let storage = try directory.open(tag: "kinvey", layout: Self.layout, durability: .normal)
    try storage.createIndex(IndexSpec(parsing: #"{"keys":{"parent":1}}"#), in: "folder")
    return storage
  }

  /// What is queued in all collections, as `-id` for a deletion and `+id` for anything else.
  private func queue(_ storage: Storage) throws -> [String] {
    try storage.waiting(after: 0, limit: 1_000_000).map { write in
      (write.operation == .delete ? "-" : "+") + write.id
    }
  }

  /// Confirms everything that is queued.
  private func send(_ storage: Storage) throws {
    let writes = try storage.beginSending(try storage.waiting(after: 0, limit: 1_000_000))
    try storage.confirm(writes.map { AcceptedWrite($0.write, stored: $0.body) })
  }

  private func saveFolders(_ parents: KeyValuePairs<String, String>, in storage: Storage) throws {
    for (id, parent) in parents {
      try storage.save(#"{"_id":"\#(id)","parent":"\#(parent)"}"#, in: "folder")
    }
  }

  /// The example of Amplify's order: A has B and C, B has D, and D has E.
  private func saveExample(in storage: Storage) throws {
    try saveFolders(["a": "", "b": "a", "c": "a", "d": "b", "e": "d"], in: storage)
    try send(storage)
  }

  @Test("deletes descendants before ancestors, in the queue as well") func order() throws {
    let storage = try open()
    try saveExample(in: storage)
    #expect(try storage.remove("a", in: "folder") == 1)
    #expect(try queue(storage) == ["-c", "-e", "-d", "-b", "-a"])
    #expect(try storage.find(in: "folder").isEmpty)
  }

  @Test("puts the deletion of an owner behind what was queued before") func behind() throws {
    let storage = try open()
    try saveExample(in: storage)
    try storage.save(#"{"_id":"a","parent":"","name":"new"}"#, in: "folder")
    try storage.save(#"{"_id":"x"}"#, in: "note")
    #expect(try storage.remove("a", in: "folder") == 1)
    #expect(try queue(storage) == ["+x", "-c", "-e", "-d", "-b", "-a"])
  }

  @Test("sends nothing of what was never sent") func unsent() throws {
    let storage = try open()
    for name in ["a", "b"] {
      let parent = name == "a" ? "" : try #require(try storage.find(in: "folder").first.map(id))
      try storage.save(#"{"name":"\#(name)","parent":"\#(parent)"}"#, in: "folder")
    }
    let root = try #require(try storage.find(#"{"name":"a"}"#, in: "folder").first.map(id))
    #expect(try storage.remove(root, in: "folder") == 1)
    #expect(try queue(storage).isEmpty)
  }

  private func id(_ record: String) throws -> String {
    try #require(try JSONValue(parsing: record)["_id"]?.stringValue)
  }

  @Test("ends where relations lead in a circle") func circle() throws {
    let storage = try open()
    try saveFolders(["a": "c", "b": "a", "c": "b"], in: storage)
    try send(storage)
    #expect(try storage.remove("b", in: "folder") == 1)
    #expect(try queue(storage).sorted() == ["-a", "-b", "-c"])
    #expect(try queue(storage).last == "-b")
  }

  @Test("follows a chain that is longer than a stack") func chain() throws {
    let storage = try open()
    let records = (0..<5_000).map { #"{"_id":"\#($0)","parent":"\#($0 - 1)"}"# }
    _ = try storage.store(records, in: "folder")
    #expect(try storage.remove("0", in: "folder") == 1)
    let queued = try queue(storage)
    #expect(queued.count == 5_000)
    #expect(queued.first == "-4999" && queued.last == "-0")
  }

  @Test("takes the joining records, not what they join") func joins() throws {
    let storage = try open()
    try saveFolders(["a": "", "b": ""], in: storage)
    try storage.save(#"{"_id":"f","note":"n"}"#, in: "file")
    try storage.save(
      #"{"_id":"1","folder":"a","file":"f"}"#, #"{"_id":"2","folder":"b","file":"f"}"#, in: "link")
    try send(storage)
    #expect(try storage.remove("a", in: "folder") == 1)
    #expect(try queue(storage) == ["-1", "-a"])
    #expect(try storage.find(in: "file").count == 1)
  }

  @Test("takes the record that it holds the id of, if that is there", arguments: [true, false])
  func reference(isThere: Bool) throws {
    let storage = try open()
    try storage.save(#"{"_id":"f","note":"n"}"#, in: "file")
    if isThere { try storage.save(#"{"_id":"n"}"#, in: "note") }
    try send(storage)
    #expect(try storage.remove("f", in: "file") == 1)
    #expect(try queue(storage) == (isThere ? ["-n", "-f"] : ["-f"]))
  }

  @Test("removes nothing of a record that is not there, or does not meet the condition")
  func nothing() throws {
    let storage = try open()
    try saveFolders(["b": "a", "c": "b"], in: storage)
    try send(storage)
    #expect(try storage.remove("a", in: "folder") == 0)
    #expect(throws: StoreError.self) {
      try storage.remove("b", if: .matches(try query(#"{"name":"x"}"#)), in: "folder")
    }
    #expect(try storage.find(in: "folder").count == 2)
    #expect(try queue(storage).isEmpty)
  }

  @Test("removes by a query what belongs to several, each once") func several() throws {
    let storage = try open()
    try saveExample(in: storage)
    #expect(try storage.remove(query(#"{"_id":{"$in":["b","d","c"]}}"#), in: "folder") == 3)
    #expect(try queue(storage) == ["-e", "-d", "-b", "-c"])
  }

  @Test("does the same in a transaction, over what that has written") func transaction() throws {
    let storage = try open()
    try saveExample(in: storage)
    let transaction = try storage.beginTransaction()
    let record = Array(#"{"_id":"new","parent":"e"}"#.utf8)
    let outline = try EntityScanner.outline(of: record)
    _ = try record.withUnsafeBytes {
      try transaction.save($0, [outline], known: nil, if: .none, in: "folder")
    }
    #expect(try transaction.remove("b", if: .none, in: "folder") == 1)
    #expect(try transaction.count(Query(), in: "folder") == 2)
    try transaction.commit()
    #expect(try queue(storage).suffix(3) == ["-e", "-d", "-b"])
    #expect(try storage.find(in: "folder").count == 2)
  }

  @Test("in a transaction, a child that comes meanwhile is a conflict") func race() throws {
    let storage = try open()
    try saveExample(in: storage)
    let transaction = try storage.beginTransaction()
    _ = try transaction.remove("c", if: .none, in: "folder")
    try saveFolders(["late": "c"], in: storage)
    let error = #expect(throws: StoreError.self) { try transaction.commit() }
    #expect(error?.kind == .conflict)
    #expect(try storage.find(in: "folder").count == 6)
  }

  @Test(
    "removes many as it removes a few: deletions in front of the owner's, creates that were never sent dropped"
  )
  func many() throws {
    let storage = try open()
    try storage.save(#"{"_id":"root"}"#, in: "folder")
    for number in 0..<100 {
      try storage.save(#"{"_id":"l\#(number)","folder":"root","file":"none"}"#, in: "link")
      try storage.save(#"{"_id":"other\#(number)","folder":"elsewhere"}"#, in: "link")
    }
    try send(storage)
    for _ in 0..<40 { try storage.save(#"{"folder":"root","file":"none"}"#, in: "link") }
    try storage.save(#"{"_id":"l7","folder":"root","file":"some"}"#, in: "link")
    #expect(try storage.remove("root", if: .none, in: "folder") == 1)
    let queue = try queue(storage)
    #expect(queue.last == "-root")
    #expect(Set(queue.dropLast()) == Set((0..<100).map { "-l\($0)" }))
    #expect(queue.count == 101)
    #expect(try storage.count(Query(), in: "link", writtenSince: nil) == 100)
  }
}
