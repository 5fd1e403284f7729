import KVModels
import Testing

@Suite("A changed schema") struct SchemaChangesTests {
  private static let old = """
    type Post @model { id: ID! title: String! rating: Int tags: [String] kind: Kind part: Part blog: Blog @belongsTo }
    type Blog @model { id: ID! }
    type Part { size: Float }
    enum Kind { NEWS STORY }
    """

  private func changes(_ replace: (String, String)...) throws -> SchemaChanges {
    var text = Self.old
    for (old, new) in replace {
      let range = try #require(text.firstRange(of: old))
      text.replaceSubrange(range, with: new)
    }
    return SchemaChanges(from: try ModelSchema(sdl: Self.old), to: try ModelSchema(sdl: text))
  }

  @Test("that leaves every record a record of its model is additive")
  func additive() throws {
    let all = [
      try changes(), try changes(("title: String!", "title: String")),
      try changes(("rating: Int", "rating: Int text: String")),
      try changes(("rating: Int", "rating: Int! @default(value: \"1\")")),
      try changes(("NEWS STORY", "NEWS STORY OTHER")),
      try changes(("size: Float", "size: Float color: String")),
      try changes(("rating: Int", "rating: Int @index(name: \"byRating\")")),
      try changes(("type Blog @model", "type Blog @model @auth(rules: [{allow: owner}])")),
      try changes(
        ("type Post @model {", "type Post @model { comments: [Comment] @hasMany"),
        ("enum Kind", "type Comment @model { id: ID! }\nenum Kind")),
    ]
    for change in all { #expect(change.isAdditive, "\(change)") }
    #expect(all.last?.newModels == ["Comment"])
  }

  @Test("names what records may not be any more")
  func breaking() throws {
    func expect(_ changes: SchemaChanges, _ breaking: SchemaChanges.Breaking...) {
      #expect(changes.breaking == breaking)
    }
    expect(
      try changes(("rating: Int", "rating: Float")), .typeChanged(type: "Post", field: "rating"))
    expect(
      try changes(("rating: Int", "rating: [Int]")), .typeChanged(type: "Post", field: "rating"))
    expect(
      try changes(("rating: Int", "rating: Int!")), .becameRequired(type: "Post", field: "rating"))
    expect(
      try changes(("tags: [String]", "tags: [String!]")),
      .becameRequired(type: "Post", field: "tags"))
    expect(
      try changes(("rating: Int", "rating: Int text: String!")),
      .becameRequired(type: "Post", field: "text"))
    expect(try changes(("rating: Int", "")), .fieldRemoved(type: "Post", field: "rating"))
    expect(
      try changes(("size: Float", "size: Float!")), .becameRequired(type: "Part", field: "size"))
    expect(try changes(("NEWS STORY", "NEWS")), .valueRemoved(enumeration: "Kind", value: "STORY"))
    expect(
      try changes(
        ("type Blog @model { id: ID! }", ""), ("blog: Blog @belongsTo", "postBlogId: ID")),
      .modelRemoved("Blog"))
    expect(
      try changes(("id: ID! title: String!", "id: ID! title: String! @primaryKey")),
      .keyChanged(model: "Post"))
  }
}
