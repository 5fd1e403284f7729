import KVBase
import KVClient
import KVJSON
import KVSync
import KVTestSupport
import Testing

@Suite("A handler for records whose schema has changed") struct MigrationHandlerTests {
  private static let old = """
    type Person @model { id: ID! first: String! last: String! }
    type Seat @model { row: ID! @primaryKey(sortKeyFields: ["number"]) number: Int! }
    type Note @model { id: ID! text: String }
    """
  private static let new = """
    type Person @model { id: ID! name: String! }
    type Seat @model { row: ID! @primaryKey(sortKeyFields: ["number"]) number: Int! label: String }
    type Note @model { id: ID! text: String }
    """
  private static let rules: JSONValue = ["Person": ["drop": ["first", "last"]]]

  /// What a handler was asked.
  private final class Asked: Sendable {
    private let records = Monitor<[MigratingRecord]>([])
    func note(_ record: MigratingRecord) { records.withLock { $0.append(record) } }
    var all: [MigratingRecord] { records.withLock { $0 } }
  }

  private let directory = TemporaryDirectory()
  private let asked = Asked()

  private func open(_ schema: String, change: JSONValue? = nil) throws(StoreError) -> Client {
    var options: JSONObject = [
      "appKey": "k", "dataDirectory": .string(directory.path), "durability": "normal",
      "schema": .string(schema),
    ]
    options["onSchemaChange"] = change
    return try Client(options)
  }

  /// Opens with the new schema and a handler that notes what it was asked.
  private func migrate(
    to schema: String = new, rules: JSONValue = rules,
    by handler: @escaping MigrationHandler = MigrationHandlerTests.named
  ) throws(StoreError) -> Client {
    let noting: MigrationHandler = { [asked] (record) throws(StoreError) in
      asked.note(record)
      return try handler(record)
    }
    return try MigrationHandlers.naming(noting) { (name) throws(StoreError) in
      try open(schema, change: ["migrate": rules, "handler": .string(name)])
    }
  }

  private static let named: MigrationHandler = { (record) throws(StoreError) in
    let former = (try? JSONValue(parsing: record.former)) ?? .null
    guard let first = former["first"]?.stringValue, let last = former["last"]?.stringValue else {
      return nil
    }
    return JSONValue.object(["name": .string("\(first) \(last)")]).bytes
  }

  private func store(_ model: String, of client: Client) throws -> DataStore {
    try client.store(model, type: "sync", nil)
  }

  private func fill() throws {
    let client = try open(Self.old)
    defer { client.close() }
    _ = try store("Person", of: client).save(["id": "a", "first": "Ann", "last": "Lee"])
    _ = try store("Person", of: client).save(["id": "b", "first": "Bo", "last": "Ray"])
    _ = try store("Seat", of: client).save(["row": "A", "number": 7])
    _ = try store("Note", of: client).save(["id": "n", "text": "t"])
  }

  @Test(
    "leaves no index of the former schema that the new one has not",
    arguments: [
      ("type P @model { id: ID! a: String b: String @index(name: \"byB\") }", [:]),
      ("type P @model { id: ID! b: String @index(name: \"byB\") }", ["P": ["drop": ["a"]]]),
    ] as [(String, JSONValue)])
  func dropsIndexes(new: String, rules: JSONValue) throws {
    let first = try open("type P @model { id: ID! a: String @index(name: \"byA\") }")
    _ = try store("P", of: first).save(["id": "1", "a": "x"])
    first.close()
    let client = try migrate(to: new, rules: rules, by: { _ in nil })
    defer { client.close() }
    let indexes = try JSONValue(parsing: store("P", of: client).indexes()).arrayValue ?? []
    #expect(indexes.compactMap { $0["name"]?.stringValue } == ["byB"])
  }

  @Test("is asked once for each record of the models that have changed, by name, id and content")
  func asks() throws {
    try fill()
    let client = try migrate()
    defer { client.close() }
    #expect(asked.all.map(\.id).sorted() == [#"["A",7]"#, "a", "b"])
    let ann = try #require(asked.all.first { $0.id == "a" })
    #expect((ann.formerModel, ann.model) == ("Person", "Person"))
    #expect(
      try JSONValue(parsing: ann.former) == ["id": "a", "first": "Ann", "last": "Lee"])
    #expect(try JSONValue(parsing: ann.changed) == ["id": "a"])
    let people = try store("Person", of: client)
    #expect(try people.entity("a") == ["name": "Ann Lee", "id": "a"])
    // Nil: as the rules change it.
    #expect(try store("Seat", of: client).entity(#"["A",7]"#) == ["row": "A", "number": 7])
    #expect(try store("Note", of: client).entity("n") == ["id": "n", "text": "t"])
  }

  @Test("is not asked again, nor for a schema that says the same in other words") func once() throws
  {
    try fill()
    try migrate().close()
    #expect(asked.all.count == 3)
    try migrate().close()
    try migrate(to: "# The same.\n" + Self.new).close()
    #expect(asked.all.count == 3)
  }

  @Test("is asked where a schema only adds, whatever rules for older data say") func additive()
    throws
  {
    try fill()
    let grown = Self.old.replacing("text: String", with: "text: String size: Int")
    let sized: MigrationHandler = { (record) throws(StoreError) in
      record.model == "Note" ? Array(#"{"id":"n","text":"t","size":1}"#.utf8) : nil
    }
    let stale: JSONValue = ["Note": ["from": "Remark"]]
    let client = try migrate(to: grown, rules: stale, by: sized)
    defer { client.close() }
    #expect(asked.all.map(\.id) == ["n"])
    #expect(try store("Note", of: client).entity("n")["size"] == 1)
    #expect(try store("Person", of: client).entity("a")["first"] == "Ann")
  }

  @Test(
    "ends the opening if its answer cannot be stored, naming model, record and reason",
    arguments: [
      ("no JSON", "the answer must be a JSON object"),
      ("[]", "the answer must be a JSON object"),
      (#"{"name":"a""#, "the answer must be a JSON object"),
      (#"{"name":"a","name":"b"}"#, "the answer must be a JSON object"),
      ("\u{FF}", "the answer must be a JSON object"),
      ("", "the answer must be a JSON object"),
      ("{}", "Person.name is required"),
      (#"{"name":7}"#, "Person.name"),
      (#"{"name":"a","first":"Ann"}"#, "Person has no field first"),
      (#"{"id":"b","name":"a"}"#, "the answer has another value of the key, in id"),
      (#"{"id":null,"name":"a"}"#, "the answer has another value of the key, in id"),
    ])
  func garbage(_ answer: String, reason: String) throws {
    try fill()
    let error = #expect(throws: StoreError.self) {
      _ = try migrate { (record) throws(StoreError) in
        record.id == "a"
          ? (answer == "\u{FF}" ? [0xFF] : Array(answer.utf8)) : try Self.named(record)
      }
    }
    #expect(error?.kind == .conflict)
    #expect(error?.id == "a")
    #expect(error?.message.hasPrefix(#"The record "a" of Person cannot become one"#) == true)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    try expectAsItWas()
  }

  @Test("ends the opening with its own failure, after which everything is as it was")
  func failing() throws {
    try fill()
    let error = #expect(throws: StoreError.self) {
      _ = try migrate { (record) throws(StoreError) in
        guard record.id != "b" else { throw StoreError(.invalid, "Bo has no name") }
        return try Self.named(record)
      }
    }
    #expect(error?.kind == .conflict)
    #expect(error?.message.contains("the migration handler failed: Bo has no name") == true)
    try expectAsItWas()
    // Nothing of the first attempt is left in the way of a second one.
    let client = try migrate()
    defer { client.close() }
    #expect(try store("Person", of: client).entity("b")["name"] == "Bo Ray")
  }

  private func expectAsItWas() throws {
    let client = try open(Self.old)
    defer { client.close() }
    let people = try store("Person", of: client)
    #expect(try people.entity("a") == ["id": "a", "first": "Ann", "last": "Lee"])
    #expect(try people.entity("b") == ["id": "b", "first": "Bo", "last": "Ray"])
    #expect(try store("Seat", of: client).entity(#"["A",7]"#) == ["row": "A", "number": 7])
  }

  @Test("cannot open or write local data, which would wait for it") func reentering() throws {
    try fill()
    let other = try Client([
      "appKey": "other", "dataDirectory": .string(directory.path), "host": .null,
    ])
    defer { other.close() }
    let notes = try other.store("notes", type: "sync", nil)
    let refusals = Monitor<[StoreError.Kind?]>([])
    let directory = directory.path
    let client = try migrate { (record) throws(StoreError) in
      func refusal(_ body: () throws -> Void) -> StoreError.Kind? {
        do { try body() } catch { return (error as? StoreError)?.kind }
        return nil
      }
      let kinds = [
        refusal {
          _ = try Client([
            "appKey": "k", "dataDirectory": .string(directory), "schema": .string(Self.new),
          ])
        },
        refusal { _ = try notes.save(["_id": "x"]) },
        refusal { _ = try other.store("notes", type: "sync", ["tag": "t"]) },
        refusal { _ = try other.compact(Options(), Cancellation()) },
        // What is only read, is.
        refusal { _ = try notes.all() },
      ]
      refusals.withLock { $0 = kinds }
      return try Self.named(record)
    }
    client.close()
    #expect(refusals.withLock { $0 } == [.misuse, .misuse, .misuse, .misuse, nil])
    // The thread may again, afterwards.
    _ = try notes.save(["_id": "x"])
  }

  @Test("migrates the data of other tags when they are opened, while the client works")
  func tags() throws {
    let former = try open(Self.old)
    let tagged = try former.store("Person", type: "sync", ["tag": "t"])
    _ = try tagged.save(["id": "a", "first": "Ann", "last": "Lee"])
    former.close()
    let client = try migrate()
    defer { client.close() }
    #expect(asked.all.isEmpty)
    let people = try client.store("Person", type: "sync", ["tag": "t"])
    #expect(try people.entity("a")["name"] == "Ann Lee")
  }

  @Test("keeps unsent writes, which are of the records that it has made") func unsent() throws {
    try fill()
    let client = try migrate()
    defer { client.close() }
    let people = try store("Person", of: client)
    let pending = try JSONValue(parsing: people.pending(after: nil, limit: 10)).arrayValue ?? []
    #expect(pending.compactMap { $0["id"]?.stringValue }.sorted() == ["a", "b"])
    #expect(
      try JSONValue(parsing: people.pending("a"))["entity"] == ["name": "Ann Lee", "id": "a"])
  }

  @Test("has a name that is registered") func names() throws {
    let error = #expect(throws: StoreError.self) {
      _ = try open(Self.new, change: ["handler": "nobody"])
    }
    #expect(error?.kind == .invalid)
    #expect(error?.message.contains(#"no migration handler is registered as "nobody""#) == true)
    for change: JSONValue in [["handler": 7], ["handler": "a", "rules": [:]], [:], ["migrate": 1]] {
      let error = #expect(throws: StoreError.self) { _ = try open(Self.new, change: change) }
      #expect(error?.message.contains(#""onSchemaChange" must be"#) == true)
    }
  }

  @Test("is asked for each record of several pages, once") func pages() throws {
    let former = try open(Self.old)
    let people = (0..<1_001).map { index -> JSONValue in
      ["id": .string("\(index)"), "first": "f", "last": .string("\(index)")]
    }
    _ = try store("Person", of: former).saveMany(people)
    former.close()
    let client = try migrate()
    defer { client.close() }
    #expect(asked.all.count == 1_001)
    #expect(Set(asked.all.map(\.id)).count == 1_001)
    let names = try store("Person", of: client).all().map { $0["name"] }
    #expect(names.count == 1_001)
    #expect(names.allSatisfy { $0?.stringValue?.hasPrefix("f ") == true })
  }
}

extension DataStore {
  fileprivate func entity(_ id: String) throws -> JSONValue {
    try JSONValue(parsing: find(id: id, Run()).value)
  }
}
