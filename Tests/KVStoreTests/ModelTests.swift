import Foundation
import KVStore
import Testing

@Suite("Models of a schema") struct ModelTests {
  private struct Description: Decodable {
    struct Model: Decodable {
      var name: String
      var fields: [Field]
    }

    struct Field: Decodable {
      var name: String
    }

    var models: [Model]
  }

  @Test("are described for programs that write code from them") func described() throws {
    let text = try KVStoreClient.describe(
      schema: """
        type Post @model { title: String! comments: [Comment] @hasMany }
        type Comment @model { text: String }
        """)
    let models = try JSONDecoder().decode(Description.self, from: Data(text.utf8)).models
    #expect(models.map(\.name) == ["Post", "Comment"])
    let comment = try #require(models.last).fields.map(\.name)
    #expect(comment.contains("text") && comment.contains("postCommentsId"))
  }

  @Test("are not described if the schema has a mistake, whose place is said") func mistake() {
    #expect {
      _ = try KVStoreClient.describe(schema: "type Post @model {\n  title: Strin\n}")
    } throws: { error in
      guard let error = error as? KVStoreError else { return false }
      return error.code == .invalid && error.message.contains("line 2, column 10")
    }
  }
}
