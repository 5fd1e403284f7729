import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

extension LocalTransaction {
  fileprivate func save(_ entities: String..., in collection: String = "c") throws {
    let array = Array("[\(entities.joined(separator: ","))]".utf8)
    let outlines = try EntityScanner.outlines(ofArray: array)
    _ = try array.withUnsafeBytes { try save($0, outlines, known: nil, if: .none, in: collection) }
  }

  fileprivate func remove(_ id: String, in collection: String = "c") throws -> Int {
    try remove(id, if: .none, in: collection)
  }

  fileprivate func get(_ id: String, in collection: String = "c") throws -> String? {
    try entity(id, in: collection).map { String($0) }
  }

  fileprivate func find(
    _ filter: String = "{}", _ modifiers: String? = nil, in collection: String = "c"
  ) throws -> [String] {
    try drain(find(query(filter, modifiers), in: collection))
  }
}

@Suite("Transactions") struct TransactionTests {
  let directory = TemporaryDirectory()

  @Test("write to several collections, all at once") func commit() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"old"}"#, in: "b")
    let transaction = try storage.beginTransaction()
    try transaction.save(#"{"_id":"1","n":1}"#, in: "a")
    try transaction.save(#"{"n":2}"#, in: "b")
    #expect(try transaction.remove("old", in: "b") == 1)
    #expect(try storage.find(in: "a") == [])
    #expect(try storage.queue(in: "b").isEmpty)
    try transaction.commit()
    #expect(try storage.find(in: "a") == [#"{"_id":"1","n":1}"#])
    #expect(try storage.find(in: "b").count == 1)
    #expect(try storage.queue(in: "a").map(\.operation) == [.update])
    #expect(try storage.queue(in: "b").map(\.operation) == [.create, .delete])
  }

  @Test("that are closed have written nothing") func rollback() throws {
    let storage = try openStorage(in: directory)
    let transaction = try storage.beginTransaction()
    try transaction.save(#"{"_id":"1"}"#)
    transaction.close()
    transaction.close()
    #expect(try storage.find() == [])
    let error = #expect(throws: StoreError.self) { try transaction.commit() }
    #expect(error?.kind == .misuse)
    #expect(throws: StoreError.self) { try transaction.get("1") }
  }

  @Test("see the data as it was when they began, and their own writes on top") func snapshot()
    throws
  {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":2}"#)
    let transaction = try storage.beginTransaction()
    try storage.save(#"{"_id":"a","n":100}"#, #"{"_id":"later"}"#)
    #expect(try transaction.get("a") == #"{"_id":"a","n":1}"#)
    #expect(try transaction.get("later") == nil)
    try transaction.save(#"{"_id":"a","n":5}"#)
    #expect(try transaction.get("a") == #"{"_id":"a","n":5}"#)
    #expect(try transaction.remove("b", in: "c") == 1)
    #expect(try transaction.remove("b", in: "c") == 0)
    #expect(try transaction.get("b") == nil)
    #expect(try transaction.find() == [#"{"_id":"a","n":5}"#])
    #expect(try transaction.count(query("{}"), in: "c") == 1)
  }

  @Test("fail when a record that they have read was changed, made or removed meanwhile")
  func recordConflicts() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a"}"#, #"{"_id":"b"}"#, #"{"_id":"other"}"#)
    let changes: [(String, (Storage) throws -> Void)] = [
      ("a", { try $0.save(#"{"_id":"a","n":1}"#) }),
      ("a", { try $0.store(#"{"_id":"b","n":1}"#) }),
      ("missing", { try $0.save(#"{"_id":"missing"}"#) }),
      ("b", { _ = try $0.remove("b", in: "c") }),
      (
        "a",
        {
          _ = try $0.remove("a", in: "c")
          try $0.save(#"{"_id":"a","n":1}"#)
        }
      ),
    ]
    for (number, (id, change)) in changes.enumerated() {
      let transaction = try storage.beginTransaction()
      _ = try transaction.get(number == 1 ? "b" : id)
      try transaction.save(#"{"_id":"new"}"#)
      try change(storage)
      let error = #expect(throws: StoreError.self) { try transaction.commit() }
      #expect(error?.kind == .conflict)
      #expect(try storage.get("new") == nil)
    }
  }

  @Test("do not care about what they have not read") func unrelated() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a"}"#, #"{"_id":"b"}"#)
    let transaction = try storage.beginTransaction()
    _ = try transaction.get("a")
    try transaction.save(#"{"_id":"b","n":1}"#)
    try storage.save(#"{"_id":"b","n":2}"#, #"{"_id":"c"}"#)
    try storage.save(#"{"_id":"a"}"#, in: "other")
    try transaction.commit()
    #expect(try storage.get("b") == #"{"_id":"b","n":1}"#)
  }

  @Test("fail when a query would find something else now") func queryConflicts() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":9}"#)
    for change in [#"{"_id":"z","n":2}"#, #"{"_id":"a","n":1,"x":1}"#, #"{"_id":"b","n":3}"#] {
      let transaction = try storage.beginTransaction()
      _ = try transaction.find(#"{"n":{"$lt":5}}"#)
      try transaction.save(#"{"_id":"new","n":100}"#)
      try storage.save(change)
      let error = #expect(throws: StoreError.self) { try transaction.commit() }
      #expect(error?.kind == .conflict)
    }
    let transaction = try storage.beginTransaction()
    _ = try transaction.find(#"{"n":{"$lt":0}}"#)
    try transaction.save(#"{"_id":"new","n":100}"#)
    try storage.save(#"{"_id":"far","n":50}"#)
    try transaction.commit()
  }

  @Test("a read of a collection that is made meanwhile is noticed") func newCollection() throws {
    let storage = try openStorage(in: directory)
    let transaction = try storage.beginTransaction()
    #expect(try transaction.find(in: "late") == [])
    try transaction.save(#"{"_id":"1"}"#)
    try storage.save(#"{"_id":"x"}"#, in: "late")
    #expect(try transaction.find(in: "late") == [])
    #expect(throws: StoreError.self) { try transaction.commit() }
  }

  @Test("find own and stored records in the query's order, page by page, as if all were stored")
  func merging() throws {
    var random = Seed()
    print(random)
    for round in 0..<200 {
      let storage = try openStorage(in: directory, tag: "t\(round)")
      defer { storage.close() }
      let size = random.below(12)
      try storage.store((0..<size).map { #"{"_id":"\#($0)","n":\#(random.below(4))}"# })
      let transaction = try storage.beginTransaction()
      for _ in 0..<random.below(8) {
        let id = random.below(14)
        if random.below(3) == 0 {
          _ = try transaction.remove("\(id)", in: "c")
        } else {
          try transaction.save(#"{"_id":"\#(id)","n":\#(random.below(4))}"#)
        }
      }
      let ids = (0..<random.below(5)).map { _ in #""\#(random.below(14))""# }.joined(separator: ",")
      let named = #"{"_id":{"$in":[\#(ids)]}}"#
      let filter = [#"{}"#, #"{"n":{"$gt":1}}"#, #"{"n":2}"#, named][random.below(4)]
      let order = [#""sort":{"n":1}"#, #""sort":{"n":-1,"_id":-1}"#][random.below(2)]
      let modifiers = "{\(order),\"skip\":\(random.below(4)),\"limit\":\(random.below(6) + 1)}"
      let page = try transaction.find(filter, modifiers)
      let all = try transaction.find(filter).sorted()
      try transaction.commit()
      #expect(try page == storage.find(filter, modifiers), "\(random) round \(round)")
      #expect(try all == storage.find(filter).sorted(), "\(random) round \(round)")
    }
  }

  @Test("update what matches, and see it") func updates() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":2}"#)
    let transaction = try storage.beginTransaction()
    let update = try EntityUpdate(#"{"$inc":{"n":1}}"#)
    #expect(
      try transaction.update(query("{}"), update, in: "c")
        == UpdateResult(matched: 2, modified: ["a", "b"]))
    #expect(try transaction.find(#"{"n":3}"#) == [#"{"_id":"b","n":3}"#])
    try transaction.commit()
    #expect(try storage.find() == [#"{"_id":"a","n":2}"#, #"{"_id":"b","n":3}"#])
    #expect(try storage.base("a") == #"{"_id":"a","n":1}"#)
  }

  @Test("four threads that each add 1 to a member 200 times make 800") func counting() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a","n":0}"#)
    let errors = concurrently(4) { _ in
      (0..<200).compactMap { _ in Self.repeatedly { try Self.addOne(storage) } }
    }
    #expect(errors.map(\.count) == [0, 0, 0, 0])
    #expect(try storage.get("a") == #"{"_id":"a","n":800}"#)
  }

  /// Runs `body` until it meets no conflict; gives another error.
  private static func repeatedly(_ body: () throws -> Void) -> (any Error)? {
    while true {
      do {
        try body()
        return nil
      } catch {
        guard (error as? StoreError)?.kind == .conflict else { return error }
      }
    }
  }

  private static func addOne(_ storage: Storage) throws {
    let transaction = try storage.beginTransaction()
    defer { transaction.close() }
    let entity = try #require(try transaction.entity("a", in: "c"))
    let n = try JSONValue(parsing: entity)["n"]?.intValue ?? 0
    try transaction.save(#"{"_id":"a","n":\#(n + 1)}"#)
    try transaction.commit()
  }
}

@Suite("Local updates") struct LocalUpdateTests {
  let directory = TemporaryDirectory()

  @Test("change what matches and queue what was changed") func queued() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":2}"#, #"{"_id":"c","n":2}"#)
    let update = try EntityUpdate(#"{"$max":{"n":2}}"#)
    #expect(
      try storage.update(query("{}"), update, in: "c") == UpdateResult(matched: 3, modified: ["a"]))
    #expect(try storage.find(#"{"n":2}"#).count == 3)
    #expect(try storage.queue().map(\.id) == ["a"])
    #expect(try storage.base("a") == #"{"_id":"a","n":1}"#)
  }

  @Test("that do not fit one entity change none, and name it") func atomic() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":"x"}"#)
    let update = try EntityUpdate(#"{"$inc":{"n":1}}"#)
    let error = #expect(throws: StoreError.self) {
      try storage.update(query("{}"), update, in: "c")
    }
    #expect(error?.kind == .invalid)
    #expect(error?.id == "b")
    #expect(try storage.find(#"{"n":1}"#).count == 1)
    #expect(try storage.queue().isEmpty)
  }

  @Test("four threads that each add 1 with $inc 200 times make 800") func counting() throws {
    let storage = try openStorage(in: directory)
    try storage.store(#"{"_id":"a","n":0}"#)
    let update = try EntityUpdate(#"{"$inc":{"n":1}}"#)
    let counts = concurrently(4) { _ in
      (0..<200).compactMap { _ in
        try? storage.update(query(#"{"_id":"a"}"#), update, in: "c").modified.count
      }.reduce(0, +)
    }
    #expect(counts == [200, 200, 200, 200])
    #expect(try storage.get("a") == #"{"_id":"a","n":800}"#)
  }
}
