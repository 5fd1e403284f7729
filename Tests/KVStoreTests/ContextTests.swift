import KVStore
import Testing

@Suite struct ContextTests {
  private struct Pet: Codable, Sendable, Equatable {
    var id: String?
    var name: String
    var ownerId: String?

    enum CodingKeys: String, CodingKey { case id = "_id", name, ownerId }
  }

  private static var options: ContextOptions {
    var options = ContextOptions()
    options.relationships = [
      "pets": ["owner": .to("people", by: "ownerId")],
      "people": ["pets": .from("pets", by: "ownerId")],
    ]
    return options
  }

  @Test("A context saves what was inserted, changed and deleted in one step")
  func saves() async throws {
    let local = try Local()
    let context = try await local.client.context(Self.options)
    let ann = try await context.insert(Person(id: "ann", name: "Ann", age: 30), into: "people")
    let cat = try await context.insert(
      Pet(id: "cat", name: "Minka", ownerId: "ann"), into: "pets")
    try await ann.set(\.age, to: 31)
    #expect(try await local.people.count() == 0)
    #expect(try await context.changeCount() == 2)
    try await context.save()
    #expect(try await local.people.find(id: "ann")?.age == 31)
    let pets = try await ann.related("pets", of: Pet.self)
    #expect(try await pets.first?[\.name] == "Minka")
    let owners = try await cat.related("owner", of: Person.self)
    #expect(try await owners.first?.id == "ann")
    try await cat.delete()
    #expect(try await cat.value() == nil)
    #expect(try await context.undo())
    #expect(try await cat[\.name] == "Minka")
    try await context.rollback()
    #expect(try await context.changeCount() == 0)
  }

  @Test("A fetch finds unsaved changes, and a batch of objects is read at once")
  func fetches() async throws {
    let local = try Local()
    try await local.people.save((0..<20).map { Person(id: "\($0)", name: "p", age: $0) })
    let context = try await local.client.context()
    let ten = try await context.object("10", in: "people", of: Person.self)
    try await ten.set(\.age, to: 100)
    let found = try await context.fetch(
      Query(\Person.age >= 15).sorted(by: \.age, ascending: false), in: "people")
    var ages: [Int] = []
    for person in found { ages.append(try await person[\.age]) }
    #expect(ages == [100, 19, 18, 17, 16, 15])
    let nobody = try await context.object("x", in: "people", of: Person.self)
    let error = await #expect(throws: KVStoreError.self) { _ = try await nobody[\.age] }
    #expect(error?.code == .notFound)
  }

  @Test("A conflict fails the save, until something decides it")
  func conflicts() async throws {
    let local = try Local()
    try await local.people.save(Person(id: "ann", name: "Ann", age: 30))
    let context = try await local.client.context()
    let ann = try await context.object("ann", in: "people", of: Person.self)
    try await ann.set(\.age, to: 31)
    try await local.people.save(Person(id: "ann", name: "Anna", age: 40))
    let error = await #expect(throws: KVStoreError.self) { try await context.save() }
    #expect(error?.code == .conflict)
    try await context.save { conflict in
      guard let mine = try? conflict.object(as: Person.self),
        let theirs = try? conflict.stored(as: Person.self)
      else { return nil }
      return .merged(Person(id: "ann", name: theirs.name, age: mine.age))
    }
    #expect(try await local.people.find(id: "ann") == Person(id: "ann", name: "Anna", age: 31))
  }

  @Test("A followed list has unsaved changes, and what others save")
  func following() async throws {
    let local = try Local()
    try await local.people.save((0..<4).map { Person(id: "\($0)", name: "p", age: $0) })
    let context = try await local.client.context()
    let young = try await context.results(Query(\Person.age < 10).sorted(by: \.age), in: "people")
    var updates = try young.changes().makeAsyncIterator()
    let first = try await context.object("0", in: "people", of: Person.self)
    try await first.set(\.age, to: 9)
    var update = try #require(try await updates.next())
    #expect(update.changes.moves.map { [$0.from, $0.to] } == [[0, 3]])
    #expect(try await update.list.all().map(\.age) == [1, 2, 3, 9])
    try await local.people.save(Person(id: "2", name: "q", age: 2))
    update = try #require(try await updates.next())
    #expect(update.changes.modifications == [1])
    #expect(try await update.list[1].entity?.name == "q")
    try await context.rollback()
    update = try #require(try await updates.next())
    #expect(try await update.list.all().map(\.age) == [0, 1, 2, 3])
  }

  @Test("Two tasks use one context at once: nothing of either is lost")
  func sharing() async throws {
    let local = try Local()
    let context = try await local.client.context()
    let people = try await context.results(Query<Person>().sorted(by: \.age), in: "people")
    let updates = try people.changes()
    let follower = Task { for try await update in updates { _ = try await update.list.all() } }
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for name in ["a", "b"] {
        tasks.addTask {
          for number in 0..<20 {
            let one = try await context.insert(
              Person(id: "\(name)\(number)", name: name, age: number), into: "people")
            try await one.set(\.age, to: 100 + number)
            _ = try await context.fetch(Query(\Person.age > 110), in: "people")
            if number % 5 == 4 { try await context.save() }
            if number % 7 == 6 { try await context.refresh() }
          }
        }
      }
      try await tasks.waitForAll()
    }
    follower.cancel()
    _ = await follower.result
    #expect(try await local.people.count(Query(\.age >= 100)) == 40)
  }

  @Test("Closing the client ends a context, and its objects with it")
  func closing() async throws {
    let local = try Local()
    let context = try await local.client.context()
    let ann = try await context.insert(Person(id: "ann", name: "Ann", age: 30), into: "people")
    await local.client.close()
    await #expect(throws: KVStoreError.self) { _ = try await ann.value() }
  }
}
