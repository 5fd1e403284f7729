import KVJSON
import KVModels
import KVTestSupport
import Testing

@Suite("Migrations of records to another schema") struct SchemaMigrationTests {
  private static let old = """
    enum Status { ACTIVE DRAFT }
    type Post @model { id: ID! title: String! rating: String status: Status notes: String }
    type Remark @model { id: ID! text: String }
    """

  private func step(_ new: String, _ rules: String) throws -> SchemaMigration.Step {
    let rules = try #require(JSONValue(parsing: rules).objectValue)
    let migration = try SchemaMigration(
      from: ModelSchema(sdl: Self.old), to: ModelSchema(sdl: new), rules)
    return try #require(migration.steps.first)
  }

  private func migrated(_ record: String, to new: String, _ rules: String) throws -> String {
    String(decoding: try step(new, rules).migrated(Array(record.utf8)), as: UTF8.self)
  }

  private static let article = """
    enum Status { ACTIVE }
    type Article @model { id: ID! headline: String! rating: Int! status: Status }
    type Remark @model { id: ID! text: String }
    """
  private static let rules = """
    {"Article":{"from":"Post","rename":{"title":"headline"},"drop":["notes"],
    "default":{"rating":3,"status":"ACTIVE"}}}
    """

  @Test("rename and drop members, and give values to what is missing or does not fit")
  func members() throws {
    #expect(
      try migrated(
        #"{"id":"a","title":"A","notes":"n","rating":"x","status":"DRAFT"}"#, to: Self.article,
        Self.rules) == #"{"id":"a","headline":"A","rating":3,"status":"ACTIVE"}"#)
    #expect(
      try migrated(#"{"id":"a","title":"A","_version":2}"#, to: Self.article, Self.rules)
        == #"{"id":"a","headline":"A","_version":2,"rating":3,"status":"ACTIVE"}"#)
  }

  @Test("leave the bytes of a record that fits") func bytes() throws {
    let record = #"{"id":"a", "text":"\u0041"}"#
    let new = "type Remark @model { id: ID! text: String more: Int }"
    let rules = try #require(JSONValue(parsing: #"{"Post":null}"#).objectValue)
    let migration = try SchemaMigration(
      from: ModelSchema(sdl: Self.old), to: ModelSchema(sdl: new), rules)
    let removed = try #require(migration.steps.first)
    #expect((removed.old, removed.new) == ("Post", nil))
    let kept = try #require(migration.steps.last)
    #expect(try kept.migrated(Array(record.utf8)) == Array(record.utf8))
  }

  @Test("refuse a record that does not fit") func unfit() throws {
    let rules = #"{"Article":{"from":"Post","rename":{"title":"headline"},"drop":["notes"]}}"#
    let error = #expect(throws: ModelError.self) {
      try migrated(#"{"id":"a","title":"A"}"#, to: Self.article, rules)
    }
    #expect(error?.message == "Article.rating is required")
  }

  @Test(
    "need a word about everything that is gone, and about nothing else",
    arguments: [
      (article, "{}", "Post was removed"),
      (article, #"{"Article":{"from":"Post"}}"#, "Post.title was removed"),
      (article, #"{"Article":{"from":"Note"}}"#, "Note is no model that is gone"),
      (article, #"{"Remark":null}"#, "Remark is no model that is gone"),
      (article, #"{"Other":{}}"#, "the schema has no model Other"),
      (article, #"{"Article":{"moves":1}}"#, "moves is not one of"),
      (
        "type Post @model { key: ID! @primaryKey title: String! } type Remark @model { id: ID! text: String }",
        #"{"Post":{"drop":["rating","status","notes"]}}"#, "Post has another primary key"
      ),
    ])
  func gaps(_ new: String, _ rules: String, message: String) throws {
    let error = #expect(throws: ModelError.self) { _ = try step(new, rules) }
    #expect(error?.message.contains(message) == true)
  }

  @Test("rename a key, whose records keep their ids") func key() throws {
    let new = """
      type Post @model { key: ID! @primaryKey title: String! }
      type Remark @model { id: ID! text: String }
      """
    let rules = #"{"Post":{"rename":{"id":"key"},"drop":["rating","status","notes"]}}"#
    #expect(try migrated(#"{"id":"a","title":"A"}"#, to: new, rules) == #"{"key":"a","title":"A"}"#)
  }
}
