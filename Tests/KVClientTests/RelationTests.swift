import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("Relations of models") struct RelationTests {
  private static let schema = """
    type Post @model {
      id: ID!
      title: String
      comments: [Comment] @hasMany
      author: User @hasOne
      tags: [Tag] @manyToMany(relationName: "PostTags")
    }
    type Comment @model { id: ID! rank: Int post: Post @belongsTo }
    type User @model { id: ID! }
    type Tag @model { id: ID! posts: [Post] @manyToMany(relationName: "PostTags") }
    type Order @model {
      shop: ID! @primaryKey(sortKeyFields: ["number"])
      number: Int!
      lines: [Line] @hasMany
    }
    type Line @model { id: ID! order: Order @belongsTo }
    """

  private let directory = TemporaryDirectory()

  private func open() throws -> Client {
    try Client([
      "appKey": "k", "dataDirectory": .string(directory.path), "durability": "normal",
      "schema": .string(Self.schema),
    ])
  }

  private func save(_ record: JSONObject, in model: String, of client: Client) throws {
    _ = try client.store(model, type: "sync", nil).save(.object(record))
  }

  /// The keys of what a relation leads to.
  private func ids(
    _ relation: String, of id: String, in model: String, to other: String, _ client: Client
  ) throws -> [String] {
    let query = try client.store(model, type: "sync", nil).related(to: id, by: relation)
    let records = try client.store(other, type: "sync", nil).all(query)
    return records.compactMap { $0["id"]?.stringValue }.sorted()
  }

  @Test("lead to what holds a record's key, found by the index") func toMany() throws {
    let client = try open()
    defer { client.close() }
    for (id, post) in [("a", "p"), ("b", "q"), ("c", "p")] {
      try save(["id": .string(id), "postCommentsId": .string(post)], in: "Comment", of: client)
    }
    // The record itself may come later.
    #expect(try ids("comments", of: "p", in: "Post", to: "Comment", client) == ["a", "c"])
    let query = try client.store("Post", type: "sync", nil).related(to: "p", by: "comments")
    let comments = try client.store("Comment", type: "sync", nil)
    #expect(try JSONValue(parsing: comments.explain(query))["access"] == "index")
  }

  @Test("lead to the record whose key is held, if there is one") func toOne() throws {
    let client = try open()
    defer { client.close() }
    try save(["id": "u"], in: "User", of: client)
    try save(["id": "p", "postAuthorId": "u"], in: "Post", of: client)
    try save(["id": "q"], in: "Post", of: client)
    try save(["id": "c", "postCommentsId": "p"], in: "Comment", of: client)
    #expect(try ids("author", of: "p", in: "Post", to: "User", client) == ["u"])
    #expect(try ids("author", of: "q", in: "Post", to: "User", client).isEmpty)
    #expect(try ids("post", of: "c", in: "Comment", to: "Post", client) == ["p"])
    let missing = failure { _ = try ids("post", of: "d", in: "Comment", to: "Post", client) }
    #expect(missing?.kind == .notFound)
  }

  @Test("lead through joining records to the far ones, from both sides") func throughJoins() throws
  {
    let client = try open()
    defer { client.close() }
    for tag in ["s", "t", "u"] { try save(["id": .string(tag)], in: "Tag", of: client) }
    for (id, post, tag) in [("1", "p", "s"), ("2", "p", "t"), ("3", "q", "t")] {
      try save(
        ["id": .string(id), "postId": .string(post), "tagId": .string(tag)], in: "PostTags",
        of: client)
    }
    try save(["id": "p"], in: "Post", of: client)
    try save(["id": "q"], in: "Post", of: client)
    #expect(try ids("tags", of: "p", in: "Post", to: "Tag", client) == ["s", "t"])
    #expect(try ids("posts", of: "t", in: "Tag", to: "Post", client) == ["p", "q"])
    #expect(try ids("posts", of: "u", in: "Tag", to: "Post", client).isEmpty)
  }

  @Test("lead by keys of several parts, both ways") func composite() throws {
    let client = try open()
    defer { client.close() }
    try save(["shop": "x", "number": 7], in: "Order", of: client)
    try save(["id": "l", "orderLinesShop": "x", "orderLinesNumber": 7], in: "Line", of: client)
    try save(["id": "m", "orderLinesShop": "x", "orderLinesNumber": 8], in: "Line", of: client)
    #expect(try ids("lines", of: #"["x",7]"#, in: "Order", to: "Line", client) == ["l"])
    let query = try client.store("Line", type: "sync", nil).related(to: "l", by: "order")
    #expect(try client.store("Order", type: "sync", nil).all(query).count == 1)
  }

  @Test("are those of the schema") func names() throws {
    let client = try open()
    defer { client.close() }
    let posts = try client.store("Post", type: "sync", nil)
    for name in ["title", "Comments", ""] {
      #expect(failure { _ = try posts.related(to: "p", by: name) }?.kind == .invalid)
    }
    #expect(failure { _ = try posts.related(to: "", by: "comments") }?.kind == .invalid)
  }

  @Test("are followed by a removal, from one model to the next") func removal() throws {
    let client = try open()
    defer { client.close() }
    try save(["id": "u"], in: "User", of: client)
    try save(["id": "t"], in: "Tag", of: client)
    try save(["id": "p", "postAuthorId": "u"], in: "Post", of: client)
    try save(["id": "c", "postCommentsId": "p"], in: "Comment", of: client)
    try save(["id": "1", "postId": "p", "tagId": "t"], in: "PostTags", of: client)
    let posts = try client.store("Post", type: "sync", nil)
    #expect(try posts.remove(id: "p", .init()).value == 1)
    for model in ["Post", "Comment", "User", "PostTags"] {
      #expect(try client.store(model, type: "sync", nil).all().isEmpty, "\(model)")
    }
    #expect(try client.store("Tag", type: "sync", nil).all().count == 1)
  }
}
