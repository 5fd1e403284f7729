import KVStore
import Testing

@Suite struct ResultsTests {
  private func save(_ count: Int, in people: DataStore<Person>) async throws {
    try await people.save((0..<count).map { Person(id: "\($0)", name: "p\($0 % 3)", age: $0) })
  }

  @Test("Results are read by position, as slices and in order, a batch at a time")
  func reading() async throws {
    let local = try Local()
    try await save(250, in: local.people)
    let results = try await local.people.results(Query(\.age >= 50).sorted(by: \.age))
    #expect(results.count == 200 && !results.isEmpty && results.reads == 0)
    #expect(try await results[199].entity?.age == 249)
    #expect(try await results[0].entity?.age == 50)
    #expect(results.reads == 2)
    var ages: [Int] = []
    for try await person in results[90..<110] { ages.append(person.entity?.age ?? -1) }
    #expect(ages == Array(140..<160))
    #expect(try await results.all().map(\.age) == Array(50..<250))
    #expect(results.reads == 2)
    let error = await #expect(throws: KVStoreError.self) { _ = try await results[200] }
    #expect(error?.code == .invalid)
  }

  @Test("Results tell what was changed and deleted after they were fetched")
  func changes() async throws {
    let local = try Local()
    try await save(3, in: local.people)
    let results = try await local.people.results(Query().sorted(by: \.age))
    try await local.people.save(Person(id: "1", name: "new", age: 90))
    try await local.people.remove(id: "2")
    guard case .changed(let changed) = try await results[1] else {
      Issue.record("not changed")
      return
    }
    #expect(changed.name == "new")
    #expect(try await results[2] == .deleted)
    #expect(try await results.all().map(\.age) == [0, 90])
  }

  @Test("A followed list becomes what its query finds, and tells the positions that changed")
  func following() async throws {
    let local = try Local()
    try await save(5, in: local.people)
    let results = try await local.people.results(Query(\.age >= 1).sorted(by: \.age))
    try await local.people.remove(id: "4")
    var updates = try results.changes().makeAsyncIterator()
    #expect(throws: KVStoreError.self) { try results.changes() }
    let first = try #require(try await updates.next())
    #expect(first.changes.deletions == [3] && first.list.count == 3)
    try await local.people.save(Person(id: "1", name: "old", age: 70))
    let second = try #require(try await updates.next())
    #expect(second.changes.moves.map { [$0.from, $0.to] } == [[0, 2]])
    #expect(second.changes.modifications == [2])
    #expect(try await second.list.all().map(\.age) == [2, 3, 70])
  }

  @Test("Results are ids, and the groups that meet a condition")
  func forms() async throws {
    let local = try Local()
    try await save(10, in: local.people)
    let ids = try await local.people.ids(Query().sorted(by: \.age, ascending: false))
    #expect(try await ids.all().prefix(2) == ["9", "8"])
    struct Name: Codable, Sendable { var name: String, people: Int }
    let groups: Results<Name> = try await local.people.results(
      by: [\.name], .count("people"),
      having: Query(\Name.people <= 3).sorted(by: \.name, ascending: false))
    #expect(try await groups.all().map(\.name) == ["p2", "p1"])
  }

  @Test("A list of faults has ids at once, and a batch is one request when it is touched")
  func faults() async throws {
    let backend = try Backend()
    let ann = try backend.client("ann")
    try await ann.signup(username: "ann", password: "a password")
    let people = try ann.store("people", of: Person.self, type: .network)
    for number in 0..<7 {
      try await people.save(Person(id: "\(number)", name: "p", age: number))
    }
    let copies = try ann.store("people", of: Person.self, type: .auto)
    let list = try await copies.results(
      Query().sorted(by: \.age), batchSize: 3, returnsFaults: true)
    #expect(list.count == 7)
    let local = try ann.store("people", of: Person.self)
    #expect(try await local.count() == 0)
    #expect(try await list[4].entity?.age == 4)
    #expect(try await local.count() == 3)
    #expect(try await list.all().map(\.age) == Array(0..<7))
    #expect(list.reads == 3)
    await ann.close()
  }
}
