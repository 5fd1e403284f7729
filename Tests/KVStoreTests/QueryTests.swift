import KVStore
import Testing

@Suite struct QueryTests {
  private func text(_ query: Query<Person>) -> String { query.text }

  @Test("Key paths name the members as JSON has them, also in objects")
  func names() {
    #expect(text(\.age > 30) == #"{"filter":{"age":{"$gt":30}}}"#)
    #expect(text(\.id == "1") == #"{"filter":{"_id":"1"}}"#)
    #expect(text(\.isMember == true) == #"{"filter":{"member":true}}"#)
    #expect(text(\.home?.city == "Reno") == #"{"filter":{"home.city":"Reno"}}"#)
    #expect(text(\.mood == .merry) == #"{"filter":{"mood":"merry"}}"#)
    #expect(text(\.height == nil) == #"{"filter":{"height":null}}"#)
    #expect(text(\.height < 1.5) == #"{"filter":{"height":{"$lt":1.5}}}"#)
    #expect(
      text(\.born >= Timestamp(milliseconds: 0))
        == #"{"filter":{"born":{"$gte":"1970-01-01T00:00:00.000Z"}}}"#)
  }

  @Test("Texts are compared and sorted as a language does, from there on")
  func collated() throws {
    #expect(
      text(Query(\.name >= "b").sorted(by: \.name).collated(by: "de", ignoringCase: true))
        == #"{"filter":{"name":{"$gte":"b","$collation":{"locale":"de","ignoreCase":true}}},"#
        + #""sort":{"name":{"$order":1,"$collation":{"locale":"de","ignoreCase":true}}}}"#)
    #expect(text(Query(\.age > 3).collated(by: "xx")).contains("no order is known for the locale"))
  }

  @Test("Conditions are combined by the operators of Bool")
  func combined() {
    #expect(
      text(\.age > 30 && \.name == "x")
        == #"{"filter":{"age":{"$gt":30},"name":"x"}}"#)
    #expect(
      text(\.age > 30 || !(\.name == "x"))
        == #"{"filter":{"$or":[{"age":{"$gt":30}},{"$nor":[{"name":"x"}]}]}}"#)
    #expect(
      text(
        Query(\.age > 30).sorted(by: \.name).sorted(by: \.age, ascending: false).limit(2).skip(1))
        == #"{"filter":{"age":{"$gt":30}},"sort":{"name":1,"age":-1},"skip":1,"limit":2}"#)
    #expect(
      text(.where(\.name, isIn: ["a", "b"])) == #"{"filter":{"name":{"$in":["a","b"]}}}"#)
    #expect(
      text(.where(\.name, search: "fo* -x", all: true, language: "english").sortedByRelevance())
        == #"{"filter":{"name":{"$text":{"$search":"fo* -x","$matchCriteria":"all","$language":"english"}}},"sort":{"score":{"$meta":"textScore"}}}"#
    )
    #expect(text(.search("fox")) == #"{"filter":{"$text":{"$search":"fox"}}}"#)
    #expect(text(.where(\.tags, contains: "new")) == #"{"filter":{"tags":"new"}}"#)
  }

  @Test("What is no stored member is told when the query is used", arguments: [0, 1])
  func computed(which: Int) async throws {
    let local = try Local()
    defer { withExtendedLifetime(local) {} }
    let people = local.people
    let query: Query<Person> = which == 0 ? \.isAdult == true : \.nickname == "x"
    let error = await #expect(throws: KVStoreError.self) { try await people.count(query) }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("FieldNaming") == true)
  }

  @Test("Filters and formats stand beside key paths")
  func texts() async throws {
    let local = try Local()
    defer { withExtendedLifetime(local) {} }
    let people = local.people
    for (name, age) in [("Ann", 31), ("Bob", 20), ("Cy", 45)] {
      try await people.save(Person(name: name, age: age))
    }
    #expect(try await people.count(\.age > 30) == 2)
    #expect(try await people.count(Query(filter: #"{"age":{"$lt":30}}"#)) == 1)
    #expect(try await people.count(Query(format: "age > %@ AND name BEGINSWITH %@", 30, "A")) == 1)
    #expect(throws: KVStoreError.self) { try Query<Person>(filter: "{") }
  }

  struct Address: Codable, Sendable {
    let text: String
    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
      guard text.hasPrefix("mailto:") else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "no address"))
      }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }

  struct Picky: Codable, Sendable {
    var _id: String?
    var mail: Address
  }

  struct Named: Codable, Sendable, FieldNaming {
    var _id: String?
    var mail: Address
    static var fieldNames: [PartialKeyPath<Named>: String] { [\._id: "_id", \.mail: "mail"] }
  }

  @Test("A type that takes only certain values says its members' names itself")
  func fieldNaming() async throws {
    let local = try Local()
    let error = #expect(throws: KVStoreError.self) {
      try local.client.store("mail", of: Picky.self)
    }
    #expect(error?.code == .invalid)
    let named = try local.client.store("mail", of: Named.self)
    #expect(try await named.count(Query().sorted(by: \.mail)) == 0)
  }

  struct Tree: Codable, Sendable {
    var _id: String?
    var label: String
    var other: String
    var children: [Tree]
  }

  @Test("Types that contain themselves have names as well")
  func recursive() {
    let query: Query<Tree> = \.other == "x" && \.label == "y"
    #expect(query.text == #"{"filter":{"other":"x","label":"y"}}"#)
  }
}
