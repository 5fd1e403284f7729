import KVStore
import Testing

@Suite struct DataStoreTests {
  @Test("What was saved is found by the id that it got")
  func saveAndFind() async throws {
    let local = try Local()
    defer { withExtendedLifetime(local) {} }
    let people = local.people
    let person = Person(
      name: "Ann", age: 31, height: 1.7, mood: .merry, tags: ["a"], home: Home(city: "Reno"),
      born: Timestamp("1995-02-03T00:00:00.000Z"), scores: ["golf": 3])
    let saved = try await people.save(person)
    let id = try #require(saved.id)
    var expected = person
    expected.id = id
    #expect(saved == expected)
    #expect(try await people.find(id: id) == expected)
    #expect(try await people.find(id: "nobody") == nil)
    #expect(try await people.find(ids: [id, "nobody", id]) == [expected, nil, expected])
    #expect(try await people.count() == 1)
  }

  @Test("An insert of what is there is a conflict that names it")
  func insertTwice() async throws {
    let local = try Local()
    defer { withExtendedLifetime(local) {} }
    let people = local.people
    try await people.insert(Person(id: "1", name: "Ann", age: 31))
    let error = await #expect(throws: KVStoreError.self) {
      try await people.insert(Person(id: "1", name: "Bob", age: 20))
    }
    #expect(error?.code == .conflict)
    #expect(error?.id == "1")
    #expect(try await people.find(id: "1")?.name == "Ann")
  }

  @Test("A save keeps the members that the type does not have, and removes those that are nil now")
  func unknownMembers() async throws {
    struct Newer: Codable, Sendable {
      struct Place: Codable, Sendable { var city: String, zip: Int?, street: String? }
      var _id: String
      var name: String
      var age: Int
      var member = false
      var tags: [String] = []
      var scores: [String: Int] = [:]
      var home: Place?
      var color: String?
    }
    let local = try Local()
    let newer = try local.client.store("people", of: Newer.self)
    try await newer.save(
      Newer(
        _id: "1", name: "Ann", age: 31, home: .init(city: "Reno", zip: 1, street: "Elm"),
        color: "red"))
    let people = local.people
    var ann = try #require(try await people.find(id: "1"))
    ann.home?.zip = nil
    ann.age = 32
    try await people.save(ann)
    let now = try #require(try await newer.find(id: "1"))
    #expect(now.color == "red")
    #expect(now.age == 32)
    #expect(now.home?.street == "Elm")
    #expect(now.home?.zip == nil)
  }

  @Test("Saving many tells which could not be saved")
  func saveMany() async throws {
    let local = try Local()
    defer { withExtendedLifetime(local) {} }
    let people = local.people
    let long = String(repeating: "x", count: 5000)
    let result = try await people.save([
      Person(id: "1", name: "Ann", age: 31), Person(id: long, name: "Bob", age: 2),
      Person(name: "Cy", age: 3),
    ])
    #expect(result.entities.count == 3)
    #expect(result.entities[0]?.name == "Ann")
    #expect(
      result.entities.map { $0 == nil }
        == (0..<3).map { i in result.errors.contains { $0.index == i } })
    #expect(try await people.remove(id: "1"))
    #expect(try await people.remove(id: "1") == false)
  }

  @Test("An update changes what a query selects, without reading it")
  func update() async throws {
    let local = try Local()
    try await local.people.save([
      Person(id: "1", name: "Ann", age: 31), Person(id: "2", name: "Bob", age: 20),
    ])
    let change = Update<Person>().set(\.isMember, true).increment(\.age, by: 1).append(\.tags, "x")
    let result = try await local.people.update(\.age > 30, change)
    #expect(result.matched == 1)
    #expect(result.modified == 1)
    let ann = try #require(try await local.people.find(id: "1"))
    #expect(ann.isMember && ann.age == 32 && ann.tags == ["x"])
    #expect(try await local.people.find(id: "2")?.age == 20)
  }

  private struct City: Decodable, Sendable, Equatable {
    var count: Int
    var oldest: Int
    var name: String?
    enum CodingKeys: String, CodingKey {
      case count, oldest
      case name = "home.city"
    }
  }

  @Test("Groups are values of a type")
  func group() async throws {
    let local = try Local()
    for (index, city) in ["Reno", "Ely", "Reno"].enumerated() {
      try await local.people.save(Person(name: "p", age: index, home: Home(city: city)))
    }
    let cities: [City] = try await local.people.group(
      by: [\.home?.city], .count("count"), .maximum("oldest", \.age))
    #expect(Set(cities.map { "\($0)" }).count == 2)
    #expect(cities.contains(City(count: 2, oldest: 2, name: "Reno")))
    #expect(
      try await local.people.distinct(\.home?.city).compactMap { $0 }.sorted() == ["Ely", "Reno"])
  }

  @Test("Indexes are named by key paths")
  func index() async throws {
    let local = try Local()
    try await local.people.createIndex(on: [\.home?.city, \.age], name: "byCity")
    #expect(try await local.people.indexes().map(\.name) == ["byCity"])
    try await local.people.dropIndex("byCity")
    #expect(try await local.people.indexes() == [])
    try await local.people.createIndex(on: [\.home?.city], collatedBy: "sv", ignoringCase: true)
    #expect(try await local.people.indexes().map(\.name) == ["home.city_1_sv_ignoreCase"])
  }

  @Test("Dictionaries have any members: their saves replace all of them")
  func dictionaries() async throws {
    let local = try Local()
    let words = try local.client.store("words", of: [String: String].self)
    try await words.save(["_id": "1", "a": "x", "b": "y"])
    try await words.save(["_id": "1", "c": "z"])
    #expect(try await words.find(id: "1") == ["_id": "1", "c": "z"])
  }

  @Test("A call on a closed client is misuse")
  func closed() async throws {
    let local = try Local()
    defer { withExtendedLifetime(local) {} }
    let people = local.people
    await local.client.close()
    let error = await #expect(throws: KVStoreError.self) { try await people.count() }
    #expect(error?.code == .misuse)
  }

  @Test("A configuration that is wrong says which option")
  func wrongOption() throws {
    var configuration = Configuration(appKey: "kid_test", backend: .none)
    configuration.otherOptions = #"{"colour":"red"}"#
    let error = #expect(throws: KVStoreError.self) { try KVStoreClient(configuration) }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("colour") == true)
  }
}
