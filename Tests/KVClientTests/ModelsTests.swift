import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("Models of a local database") struct ModelsTests {
  private static let guide = """
    enum Status { ACTIVE INACTIVE }
    type Post @model {
      id: ID!
      title: String!
      rating: Int! @default(value: "3")
      status: Status!
      comments: [Comment] @hasMany
    }
    type Comment @model { id: ID! content: String post: Post @belongsTo }
    type Line @model {
      order: ID! @primaryKey(sortKeyFields: ["number"])
      number: Int!
      book: ID @index(name: "byBook")
    }
    """
  private let directory = TemporaryDirectory()

  private func open(_ schema: String?, _ more: JSONObject = [:]) throws(StoreError) -> Client {
    var options: JSONObject = [
      "appKey": "k", "dataDirectory": .string(directory.path), "durability": "normal",
    ]
    if let schema { options["schema"] = .string(schema) } else { options["host"] = .null }
    for member in more.members { options[member.name] = member.value }
    return try Client(options)
  }

  private func store(_ model: String, of client: Client) throws -> DataStore {
    try client.store(model, type: "sync", nil)
  }

  private func names(of store: DataStore) throws -> [String] {
    let indexes = try JSONValue(parsing: store.indexes()).arrayValue ?? []
    return indexes.compactMap { $0["name"]?.stringValue }
  }

  @Test("makes ids of new records, and fills in what fields have by default") func saving() throws {
    let client = try open(Self.guide)
    defer { client.close() }
    let posts = try store("Post", of: client)
    let saved = try posts.save(["title": "a", "status": "ACTIVE"])
    #expect(saved["rating"] == 3)
    let id = try #require(saved["id"]?.stringValue)
    #expect(try posts.entity(id) == saved)
    #expect(saved["_id"] == nil)
  }

  @Test(
    "refuses a record that is none of its model, naming the member",
    arguments: [
      (#"{"status":"ACTIVE"}"#, "Post.title is required"),
      (#"{"title":7,"status":"ACTIVE"}"#, "Post.title must be a string"),
      (#"{"title":"a","status":"OPEN"}"#, "Post.status must be a value of Status"),
      (#"{"title":"a","status":"ACTIVE","rating":null}"#, "Post.rating is required"),
      (#"{"title":"a","status":"ACTIVE","colour":1}"#, "Post has no field colour"),
      (#"{"title":"a","status":"ACTIVE","comments":[]}"#, "Post.comments is a relation"),
    ])
  func refused(_ record: String, _ message: String) throws {
    let client = try open(Self.guide)
    defer { client.close() }
    let posts = try store("Post", of: client)
    let record = try JSONValue(parsing: record)
    let error = #expect(throws: StoreError.self) { try posts.save(record) }
    #expect(error?.kind == .invalid)
    #expect(error?.message.contains(message) == true)
    #expect(try posts.all().isEmpty)
  }

  @Test("checks updates, edits of pending writes and transactions as well") func otherWrites()
    throws
  {
    let client = try open(Self.guide)
    defer { client.close() }
    let posts = try store("Post", of: client)
    let id = try #require(
      try posts.save(["title": "a", "status": "ACTIVE"])["id"]?.stringValue)
    let wrong = try posts.parsedUpdate(#"{"$set":{"rating":"many"}}"#)
    #expect(
      failure { _ = try posts.update(Query(), wrong, run: DataStore.Run()) }?.kind == .invalid)
    let transaction = try client.beginTransaction(nil)
    #expect(
      failure {
        _ = try Array(#"{"title":"b"}"#.utf8).withUnsafeBytes { bytes throws(StoreError) in
          try transaction.save(bytes, in: posts)
        }
      }?.message.contains("Post.status is required") == true)
    transaction.close()
    #expect(try posts.entity(id)["rating"] == 3)
  }

  @Test("knows records by their composite keys") func compositeKeys() throws {
    let client = try open(Self.guide)
    defer { client.close() }
    let lines = try store("Line", of: client)
    _ = try lines.save(["order": "o", "number": 2, "book": "x"])
    _ = try lines.save(["order": "o", "number": 2, "book": "y"])
    #expect(try lines.all().count == 1)
    #expect(try lines.entity(#"["o",2]"#)["book"] == "y")
    let error = #expect(throws: StoreError.self) { try lines.save(["order": "o"]) }
    #expect(error?.message.contains("number") == true, "\(error?.message ?? "")")
  }

  @Test("has the indexes of the schema and of relations") func indexes() throws {
    let client = try open(Self.guide)
    defer { client.close() }
    #expect(try names(of: store("Line", of: client)) == ["byBook"])
    let comments = try store("Comment", of: client)
    #expect(try names(of: comments) == ["relation postCommentsId"])
    let explained = try JSONValue(
      parsing: comments.explain(Query(filter: #"{"postCommentsId":"7"}"#)))
    #expect(explained["access"] == "index")
  }

  @Test(
    "tells line and column of what is wrong in a schema",
    arguments: [
      ("type Post @model {\n  title: Strin\n}", "line 2, column 10"),
      ("type Post @model {\n  n: Int @default(value: \"x\")\n}", "line 2, column 26"),
      ("type Post {\n  title: String\n}", "@model"),
    ])
  func wrongSchema(_ schema: String, _ message: String) throws {
    let error = #expect(throws: StoreError.self) { try open(schema).close() }
    #expect(error?.kind == .invalid)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("schema") == true)
  }

  @Test("has no other collections, and no backend that knows no models") func limits() throws {
    let client = try open(Self.guide)
    defer { client.close() }
    #expect(failure { _ = try client.store("Posts", type: "sync", nil) }?.kind == .invalid)
    #expect(failure { try open(Self.guide, ["host": "http://h"]).close() }?.kind == .unsupported)
    #expect(failure { try open(Self.guide, ["backend": "b"]).close() }?.kind == .unsupported)
  }

  // MARK: Changes of the schema

  @Test("keeps records and unsent writes when a schema grows") func additive() throws {
    let first = try open("type Post @model { title: String! old: Int @index(name: \"byOld\") }")
    let saved = try store("Post", of: first).save(["title": "a"])
    first.close()
    let second = try open(
      """
      type Post @model { title: String old: Int rating: Int @index(name: "byRating") }
      type Note @model { text: String }
      """)
    defer { second.close() }
    let posts = try store("Post", of: second)
    #expect(try posts.all() == [saved])
    #expect(try names(of: posts) == ["byRating"])
    #expect(try posts.pendingCount() == 1)
    _ = try posts.save(["rating": 4])
    _ = try store("Note", of: second).save(["text": "t"])
  }

  @Test("refuses a schema that the data does not follow, and changes nothing") func breaking()
    throws
  {
    let schema = "type Post @model { title: String! }"
    let first = try open(schema)
    let saved = try store("Post", of: first).save(["title": "a"])
    first.close()
    for other in [
      "type Post @model { title: Int! }", "type Post @model { title: String! n: Int! }",
      "type Post @model { text: String }", "type Note @model { title: String! }",
      "type Post @model { title: String! @primaryKey }",
    ] {
      let error = failure { try open(other).close() }
      #expect(error?.kind == .conflict)
      #expect(error?.message.contains("Post") == true)
    }
    let again = try open(schema)
    defer { again.close() }
    #expect(try store("Post", of: again).all() == [saved])
  }

  @Test("does not mix with data that follows no schema") func withoutSchema() throws {
    let plain = try open(nil)
    _ = try plain.store("notes", type: "sync", nil).save(["a": 1])
    plain.close()
    #expect(failure { try open(Self.guide).close() }?.kind == .conflict)
    try open(Self.guide, ["tag": "models"]).close()
    let other = try open(nil, ["tag": "models"])
    defer { other.close() }
    #expect(failure { _ = try other.store("notes", type: "sync", nil) }?.kind == .conflict)
  }
}

extension DataStore {
  fileprivate func entity(_ id: String) throws -> JSONValue {
    try JSONValue(parsing: find(id: id, Run()).value)
  }
}
