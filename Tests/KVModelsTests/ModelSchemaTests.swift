import KVJSON
import KVModels
import Testing

@Suite("Models of a schema") struct ModelSchemaTests {
  private static let guide = """
    type Post @model {
      id: ID!
      title: String!
      comments: [Comment] @connection(name: "PostComments")
      rating: Int!
      status: String!
    }
    type Comment @model {
      id: ID!
      content: String
      post: Post @connection(name: "PostComments")
    }
    """

  private func relation(_ path: String, in schema: ModelSchema) throws -> Relation {
    let parts = path.split(separator: ".").map(String.init)
    return try #require(schema.model(parts[0])?.field(parts[1])?.relation, "\(path)")
  }

  @Test("have the fields as they are written, the keys of relations, and the backend's times")
  func fields() throws {
    let schema = try ModelSchema(sdl: Self.guide)
    #expect(schema.models.map(\.name) == ["Post", "Comment"])
    let post = try #require(schema.model("Post"))
    #expect(
      post.fields.map(\.name)
        == ["id", "title", "comments", "rating", "status", "createdAt", "updatedAt"])
    #expect(post.pluralName == "Posts")
    #expect(post.primaryKey == ["id"])
    #expect(
      post.field("title") == ModelField(name: "title", kind: .scalar(.string), isRequired: true))
    #expect(post.field("createdAt")?.isReadOnly == true)
    let comment = try #require(schema.model("Comment"))
    #expect(
      comment.fields.map(\.name)
        == ["id", "content", "post", "commentPostId", "createdAt", "updatedAt"])
    #expect(comment.field("commentPostId")?.isRequired == false)
  }

  @Test("of the first generation are joined by the name of the connection")
  func namedConnection() throws {
    let schema = try ModelSchema(sdl: Self.guide)
    let keys = ["commentPostId"]
    #expect(
      try relation("Post.comments", in: schema)
        == .hasMany(model: "Comment", keys: keys, isSingle: false))
    #expect(try relation("Comment.post", in: schema) == .belongsTo(model: "Post", keys: keys))
  }

  @Test("of the first generation are joined by an index and its fields")
  func indexedConnection() throws {
    let schema = try ModelSchema(
      sdl: """
        type Post @model { id: ID! title: String! editors: [PostEditor] @connection(keyName: "byPost", fields: ["id"]) }
        type PostEditor @model(queries: null)
          @key(name: "byPost", fields: ["postID", "editorID"])
          @key(name: "byEditor", fields: ["editorID", "postID"]) {
          id: ID!
          postID: ID!
          editorID: ID!
          post: Post! @connection(fields: ["postID"])
          editor: User! @connection(fields: ["editorID"])
        }
        type User @model { id: ID! username: String! posts: [PostEditor] @connection(keyName: "byEditor", fields: ["id"]) }
        """)
    #expect(
      try relation("Post.editors", in: schema)
        == .hasMany(model: "PostEditor", keys: ["postID"], isSingle: false))
    #expect(
      try relation("User.posts", in: schema)
        == .hasMany(model: "PostEditor", keys: ["editorID"], isSingle: false))
    #expect(
      try relation("PostEditor.editor", in: schema) == .belongsTo(model: "User", keys: ["editorID"])
    )
    let join = try #require(schema.model("PostEditor"))
    #expect(join.indexes.map(\.fields) == [["postID", "editorID"], ["editorID", "postID"]])
    #expect(join.missingOperations == [.get, .list, .sync])
  }

  @Test("of the second generation hold keys under names that follow from model and field")
  func secondGeneration() throws {
    let schema = try ModelSchema(
      sdl: """
        type Blog @model { id: ID! posts: [Post] @hasMany  theme: Theme @hasOne  name: String @default(value: "My blog") }
        type Post @model { id: ID! blog: Blog @belongsTo  tags: [Tag] @hasMany(indexName: "byPost", fields: ["id"]) }
        type Theme @model { id: ID! blog: Blog @belongsTo }
        type Tag @model { id: ID! postId: ID! @index(name: "byPost", sortKeyFields: ["rank"]) rank: Int }
        """)
    #expect(
      try relation("Blog.posts", in: schema)
        == .hasMany(model: "Post", keys: ["blogPostsId"], isSingle: false))
    #expect(
      try relation("Post.blog", in: schema) == .belongsTo(model: "Blog", keys: ["blogPostsId"]))
    #expect(
      try relation("Blog.theme", in: schema) == .hasOne(model: "Theme", keys: ["blogThemeId"]))
    #expect(
      try relation("Theme.blog", in: schema) == .belongsTo(model: "Blog", keys: ["themeBlogId"]))
    #expect(
      try relation("Post.tags", in: schema)
        == .hasMany(model: "Tag", keys: ["postId"], isSingle: false))
    #expect(schema.model("Blog")?.field("name")?.defaultValue == "My blog")
    #expect(
      schema.model("Tag")?.indexes == [ModelIndex(name: "byPost", fields: ["postId", "rank"])])
  }

  @Test("with keys of several parts lead to one another by as many keys")
  func compositeKeys() throws {
    let schema = try ModelSchema(
      sdl: """
        type Order @model { tenant: ID! @primaryKey(sortKeyFields: ["number"]) number: Int! lines: [Line] @hasMany }
        type Line @model { id: ID! order: Order! @belongsTo(fields: ["orderTenant", "orderNumber"])
          orderTenant: ID! orderNumber: Int! }
        type Old @model @key(fields: ["a", "b"]) { a: String! b: String! next: Old @connection }
        """)
    #expect(schema.model("Order")?.primaryKey == ["tenant", "number"])
    #expect(
      try relation("Order.lines", in: schema)
        == .hasMany(model: "Line", keys: ["orderLinesTenant", "orderLinesNumber"], isSingle: false))
    #expect(schema.model("Line")?.field("orderLinesNumber")?.kind == .scalar(.int))
    #expect(
      try relation("Line.order", in: schema)
        == .belongsTo(model: "Order", keys: ["orderTenant", "orderNumber"]))
    #expect(
      try relation("Old.next", in: schema)
        == .belongsTo(model: "Old", keys: ["oldNextA", "oldNextB"]))
  }

  @Test("that are joined many to many have a model between them")
  func manyToMany() throws {
    let schema = try ModelSchema(
      sdl: """
        type Post @model { id: ID! tags: [Tag] @manyToMany(relationName: "PostTags") }
        type Tag @model { id: ID! posts: [Post] @manyToMany(relationName: "PostTags") }
        """)
    let join = try #require(schema.model("PostTags"))
    #expect(
      join.fields.map(\.name)
        == ["id", "postId", "tagId", "post", "tag", "createdAt", "updatedAt"])
    #expect(join.field("postId")?.isRequired == true)
    #expect(
      try relation("Post.tags", in: schema)
        == .manyToMany(model: "Tag", join: "PostTags", keys: ["postId"], others: ["tagId"]))
    #expect(try relation("PostTags.tag", in: schema) == .belongsTo(model: "Tag", keys: ["tagId"]))
  }

  @Test("know enumerations, embedded types, lists, rules, and what the backend does not offer")
  func details() throws {
    let schema = try ModelSchema(
      sdl: #"""
        """ A thing. """
        type Thing @model(subscriptions: {level: off}, mutations: {delete: null},
                          timestamps: {createdAt: "made", updatedAt: null})
          @auth(rules: [{allow: owner, operations: [create, update]},
                        {allow: groups, groups: ["Admin"], provider: oidc}]) {
          id: ID!
          state: State!
          parts: [Part!]!
          names: [String]
          made: AWSDateTime # declared, and made by the backend all the same
        }
        extend type Thing { place: AWSJSON }
        enum State { OPEN "done with" DONE }
        type Part { size: Float! inner: Part }
        input Unused { a: Int = 3 }
        directive @mine(a: Int = 1) repeatable on OBJECT | FIELD
        union Either = | Thing | Part
        schema { query: Query }
        type Query { things(limit: Int = 3): [Thing] }
        """#)
    let thing = try #require(schema.model("Thing"))
    #expect(thing.fields.map(\.name) == ["id", "state", "parts", "names", "made", "place"])
    #expect(thing.field("state")?.kind == .enumeration("State"))
    let parts = try #require(thing.field("parts"))
    #expect(
      parts.kind == .embedded("Part") && parts.isList && parts.isRequired
        && parts.hasRequiredElements)
    let names = try #require(thing.field("names"))
    #expect(names.isList && !names.isRequired && !names.hasRequiredElements)
    #expect(thing.field("made")?.isReadOnly == true)
    #expect(thing.missingOperations == [.onCreate, .onUpdate, .onDelete, .delete])
    #expect(thing.rules.map(\.allow) == ["owner", "groups"])
    #expect(
      thing.rules[0].ownerField == "owner" && thing.rules[0].operations == ["create", "update"])
    #expect(thing.rules[1].groups == ["Admin"] && thing.rules[1].provider == "oidc")
    #expect(schema.enumeration("State")?.values == ["OPEN", "DONE"])
    #expect(schema.embeddedType("Part")?.fields.map(\.name) == ["size", "inner"])
  }

  @Test("are described as JSON, with the keys that no field names") func description() throws {
    let schema = try ModelSchema(
      sdl: """
        enum State { OPEN DONE }
        type Part { size: Int! }
        type Post @model { id: ID! state: State @default(value: "OPEN") parts: [Part!]! comments: [Comment] @hasMany }
        type Comment @model { id: ID! }
        """)
    let description = schema.description
    #expect(description["enums"] == [["name": "State", "values": ["OPEN", "DONE"]]])
    #expect(description["types"]?.arrayValue?.first?["name"] == "Part")
    let models = try #require(description["models"]?.arrayValue)
    #expect(models.map { $0["key"] } == [["id"], ["id"]])
    #expect(
      models[0]["relations"] == [
        [
          "name": "comments", "model": "Comment", "kind": "hasMany", "keys": ["postCommentsId"],
          "isSingle": false,
        ]
      ])
    let fields = try #require(models[0]["fields"]?.arrayValue)
    #expect(
      fields[1] == [
        "name": "state", "type": "State", "isRequired": false, "isList": false,
        "hasRequiredElements": false, "isReadOnly": false, "default": "OPEN",
      ])
    #expect(fields[2]["type"] == "Part" && fields[2]["isList"] == true)
    #expect(fields.last?["isReadOnly"] == true)
    #expect(models[1]["fields"]?.arrayValue?[1]["name"] == "postCommentsId")
  }

  @Test(
    "are refused with the line and the column of the mistake",
    arguments: [
      ("type A @model { id: ID! b: B }", 1, 28, "there is no type B"),
      ("type A @model {\n  id: ID!\n  b: [[Int]]\n}", 3, 8, "lists of lists are not supported"),
      ("type A @model { id: ID! other: A }", 1, 25, "it needs @hasOne"),
      ("type A @model { id: ID! id: ID! }", 1, 25, "occurs twice"),
      ("type A @model { id: ID! } type A { x: Int }", 1, 32, "occurs twice"),
      ("type A @model { id: ID!", 1, 24, "expected }"),
      ("type A @model @key(fields: [\"x\"]) { id: ID! }", 1, 16, "no field x"),
      ("type A @model { n: Int @primaryKey }", 1, 25, "must be required"),
      ("type A @model { n: Float! @primaryKey }", 1, 28, "strings and integers only"),
      ("type A @model { id: ID! }\nextend type B { x: Int }", 2, 13, "no type B"),
      ("type A @model { id: \u{e9} }", 1, 21, "unexpected character"),
      ("type A @model { id: ID! @default(value: 01) }", 1, 41, "not a number"),
      ("type A @model { id: ID! @default(value: \"\\ud800\") }", 1, 42, "not a Unicode character"),
      ("type A @model { id: ID! @default(value: \"a\n\") }", 1, 41, "does not end"),
      ("type A @model { id: ID! } enum E { }", 1, 32, "has no values"),
      (
        "type A @model { id: ID! b: [B] @manyToMany(relationName: \"x\") } type B @model { id: ID! }",
        1, 25, "a list on each of two sides"
      ),
      (
        "type A @model { id: ID! b: [B] @hasMany(indexName: \"x\", fields: [\"id\"]) } type B @model { id: ID! }",
        1, 52, "no index x"
      ),
      (
        "type A @model { id: ID! b: B @belongsTo(fields: [\"n\"]) n: Int } type B @model { id: ID! }",
        1, 25, "cannot hold"
      ),
      ("type A @model { id: ID! } type E { a: A }", 1, 36, "cannot have a relation to a model"),
      ("type A @model @auth(rules: {allow: everybody}) { id: ID! }", 1, 28, "a rule must allow"),
      (String(repeating: "[", count: 40), 1, 1, "expected a definition"),
      ("type A { a: " + String(repeating: "[", count: 40), 1, 45, "nested too deeply"),
    ] as [(String, Int, Int, String)])
  func mistakes(sdl: String, line: Int, column: Int, message: String) throws {
    let error = try #require(throws: SchemaError.self) { try ModelSchema(sdl: sdl) }
    #expect(error.message.contains(message), "\(error.text)")
    #expect(error.location == SourceLocation(line: line, column: column), "\(error.text)")
  }

  /// A schema whose relation, in line 2, may name other fields than those that exist.
  private static func related(
    _ directive: String, to comment: String = "postId: ID @index(name: \"byPost\")"
  ) -> String {
    "type Post @model { email: String! title: String\ncomments: [Comment] \(directive) }"
      + " type Comment @model { id: ID! \(comment) }"
  }

  @Test(
    "are refused where a directive names what does not exist or is not supported",
    arguments: [
      // What belongs to a record is found by its primary key, not by another field.
      (
        related("@hasMany(indexName: \"byPost\", fields: [\"email\"])"), 2, 59,
        "found by its primary key, id"
      ),
      (
        related("@connection(keyName: \"byPost\", fields: [\"email\"])"), 2, 60, "primary key, id"
      ),
      (
        related("@hasMany(indexName: \"byPost\", fields: [\"mail\"])"), 2, 59,
        "Post has no field mail"
      ),
      (related("@hasMany(references: [\"pstId\"])"), 2, 42, "Comment has no field pstId"),
      (
        related("@hasMany(indexName: \"byPost\", references: [\"id\"])"), 2, 22,
        "does not begin with id"
      ),
      (
        related("@hasMany(references: [\"postId\"], fields: [\"id\"])"), 2, 30,
        "either fields or references"
      ),
      (related("@hasMany(feilds: [\"id\"])"), 2, 30, "@hasMany has no argument feilds"),
      (related("@hasmany"), 2, 22, "only @hasMany"),
      (related("@hasMany @connection"), 2, 31, "one relation only"),
      (
        "type A @model { id: ID! b: B @hasOne(fields: [\"bid\"]) } type B @model { id: ID! }", 1,
        46,
        "A has no field bid"
      ),
      (
        "type A @model { id: ID! b: B @hasOne(references: [\"aid\"]) } type B @model { id: ID! }",
        1, 50,
        "B has no field aid"
      ),
      (
        "type A @model { id: ID! b: B @belongsTo(fields: [\"bid\"]) } type B @model { id: ID! }", 1,
        49,
        "A has no field bid"
      ),
      (
        "type A @model { id: ID! b: B @belongsTo(references: [\"bid\"]) } type B @model { id: ID! }",
        1,
        53, "A has no field bid"
      ),
      (
        "type A @model { id: ID! b: B @connection(fields: [\"bid\"]) } type B @model { id: ID! }",
        1, 50,
        "A has no field bid"
      ),
      (
        "type A @model { id: ID! b: B @connection(keyName: \"k\") } type B @model { id: ID! }", 1,
        42,
        "keyName is for lists"
      ),
      (
        """
        type A @model { id: ID! b: [B] @connection(name: "x") } type B @model { id: ID! a: [A] @connection(name: "x") }
        """, 1, 33, "cannot join lists"
      ),
      ("type A @model @key(name: \"k\", fields: [\"x\"]) { id: ID! }", 1, 16, "A has no field x"),
      (
        "type A @model @key(name: \"k\", fields: [\"n\", \"n\"]) { n: Int }", 1, 16, "a field twice"
      ),
      ("type A @model @key(fields: [\"n\", \"n\"]) { n: Int! }", 1, 16, "a field twice"),
      (
        "type A @model { id: ID! n: Int @index(sortKeyFields: [\"x\"]) }", 1, 33, "A has no field x"
      ),
      (
        "type A @model { id: ID! n: Int! @primaryKey(sortKeyFields: [\"x\"]) }", 1, 34, "no field x"
      ),
      ("type A @model { id: ID! n: [Int] @hasMany }", 1, 35, "lead to a model"),
      ("type A @model { id: ID! p: P @hasOne } type P { n: Int }", 1, 31, "lead to a model"),
      ("type A @model { id: ID! p: P } type P { n: Int @index }", 1, 49, "for fields of models"),
      ("type A @model { id: ID! n: ID! @primarykey }", 1, 33, "only @primaryKey"),
      (
        "type A @model { id: ID! b: A @hasOne @default(value: \"x\") }", 1, 39, "no default value"
      ),
    ] as [(String, Int, Int, String)])
  func statedNames(sdl: String, line: Int, column: Int, message: String) throws {
    let error = try #require(throws: SchemaError.self) { try ModelSchema(sdl: sdl) }
    #expect(error.message.contains(message), "\(error.text)")
    #expect(error.location == SourceLocation(line: line, column: column), "\(error.text)")
  }

  @Test(
    "may name keys that relations imply, in any order, and times that the backend makes",
    arguments: [
      related("@hasMany", to: "post: Post @belongsTo(fields: [\"postCommentsId\"])"),
      "type Comment @model { id: ID! post: Post @connection(fields: [\"postCommentsId\"]) }"
        + " type Post @model { comments: [Comment] @connection }",
      related("@hasMany(fields: [\"id\"], indexName: \"byPost\")"),
      related("@connection(keyField: \"owner\")"),
      "type A @model @key(name: \"k\", fields: [\"n\", \"createdAt\"]) { n: Int }",
      "type A @model @key(name: \"k\", fields: [\"aNextId\"]) { next: A @hasOne }",
      "type A @model @searchable { n: Int @mine(a: 1) }",
    ])
  func impliedNames(sdl: String) throws { _ = try ModelSchema(sdl: sdl) }

  @Test("that were adopted before a check existed can still be read") func adopted() throws {
    let text = Self.related("@hasMany(indexName: \"byPost\", fields: [\"email\"])")
    let schema = try ModelSchema(adopted: text)
    #expect(
      try relation("Post.comments", in: schema)
        == .hasMany(model: "Comment", keys: ["postId"], isSingle: false))
  }

  @Test("are read in time that grows with the text, however it is made")
  func largeSchemas() throws {
    let fields = (0..<1_000).map { "f\($0): Int" }.joined(separator: "\n")
    let large = (0..<40).map { "type T\($0) @model { id: ID! \n\(fields.dropLast(9)) }" }
    #expect(try ModelSchema(sdl: large.joined(separator: "\n")).models.count == 40)
    let many = (0..<3_000).map {
      "type T\($0) @model { id: ID! next: T\(($0 + 1) % 3_000) @belongsTo }"
    }
    #expect(try ModelSchema(sdl: many.joined(separator: "\n")).models.count == 3_000)
    let keys = (0..<30_000).map { "@key(name: \"k\($0)\", fields: [\"id\"])" }.joined()
    #expect(throws: SchemaError.self) { try ModelSchema(sdl: "type A @model \(keys) { id: ID! }") }
    #expect(throws: SchemaError.self) {
      try ModelSchema(sdl: String(repeating: "#", count: 5 << 20))
    }
  }
}
