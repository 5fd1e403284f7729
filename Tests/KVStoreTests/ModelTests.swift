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

@Suite("A migration of records to another schema") struct MigrationTests {
  private struct OldPerson: Codable, Sendable {
    var id: String
    var first: String
    var last: String
  }

  private struct Person: Codable, Sendable, Equatable {
    var id: String
    var name: String
  }

  private struct Nameless: Error {}

  private let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("migration-\(UUID())").path

  private func configuration(_ schema: String, _ migration: Migration? = nil) -> Configuration {
    var configuration = Configuration(appKey: "people", backend: .none)
    configuration.dataDirectory = directory
    configuration.schema = schema
    configuration.migration = migration
    return configuration
  }

  private static let old = "type Person @model { id: ID! first: String! last: String! }"
  private static let new = "type Person @model { id: ID! name: String! }"
  private static let rules = #"{"Person":{"drop":["first","last"]}}"#

  private func fill() async throws {
    let client = try KVStoreClient(configuration(Self.old))
    let people = try client.store("Person", of: OldPerson.self)
    _ = try await people.save(OldPerson(id: "a", first: "Ann", last: "Lee"))
    await client.close()
  }

  @Test("gives a closure values of the former type, and stores what it returns")
  func typed() async throws {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await fill()
    var migration = Migration(rules: Self.rules)
    migration.change("Person", from: OldPerson.self) { old in
      Person(id: old.id, name: "\(old.first) \(old.last)")
    }
    let client = try KVStoreClient(configuration(Self.new, migration))
    let people = try client.store("Person", of: Person.self)
    #expect(try await people.find(id: "a") == Person(id: "a", name: "Ann Lee"))
    await client.close()
  }

  @Test("is undone if its closure throws, or the former type does not fit") func failing()
    async throws
  {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await fill()
    var failing = Migration(rules: Self.rules)
    failing.change("Person", from: OldPerson.self) { _ -> Person? in throw Nameless() }
    var unfit = Migration(rules: Self.rules)
    unfit.change("Person", from: Person.self) { $0 }
    for (migration, reason) in [(failing, "Nameless()"), (unfit, "name")] {
      let error = #expect(throws: KVStoreError.self) {
        _ = try KVStoreClient(configuration(Self.new, migration))
      }
      #expect(error?.code == .conflict)
      #expect(error?.id == "a")
      #expect(error?.message.contains(reason) == true)
    }
    let client = try KVStoreClient(configuration(Self.old))
    let people = try client.store("Person", of: OldPerson.self)
    #expect(try await people.find(id: "a")?.last == "Lee")
    await client.close()
  }

  @Test("may be of rules alone") func rules() async throws {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await fill()
    let rules = #"{"Person":{"drop":["last"],"rename":{"first":"name"}}}"#
    let client = try KVStoreClient(configuration(Self.new, Migration(rules: rules)))
    let people = try client.store("Person", of: Person.self)
    #expect(try await people.find(id: "a") == Person(id: "a", name: "Ann"))
    await client.close()
  }
}
