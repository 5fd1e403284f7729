import KVStore
import KVTestSupport
import Testing

@Suite struct TransactionTests {
  private struct Refusal: Error, Equatable {}

  private func store(_ name: String, of client: KVStoreClient) throws -> DataStore<Person> {
    try client.store(name, of: Person.self)
  }

  @Test("What a transaction writes in several stores is there at once, and is what it gives back")
  func severalStores() async throws {
    let local = try Local()
    let (people, archive) = (local.people, try store("archive", of: local.client))
    try await people.save([
      Person(id: "1", name: "Ann", age: 95), Person(id: "2", name: "Bob", age: 20),
      Person(id: "3", name: "Cy", age: 91),
    ])
    let moved = try await local.client.transaction { transaction in
      let old = try transaction.find(Query(\.age > 90).sorted(by: \.name), in: people).all()
      for person in old { try transaction.insert(person, in: archive) }
      #expect(try transaction.remove(\.age > 90, in: people) == 2)
      #expect(try transaction.count(in: people) == 1)
      #expect(try transaction.find(id: "1", in: people) == nil)
      return old.map(\.name)
    }
    #expect(moved == ["Ann", "Cy"])
    #expect(try await people.count() == 1)
    #expect(try await archive.find(Query().sorted(by: \.name)).all().map(\.name) == moved)
  }

  @Test("A transaction sees its own writes, one entity after the other")
  func ownWrites() async throws {
    let local = try Local()
    let people = local.people
    try await people.save((0..<1000).map { Person(id: "\($0)", name: "p", age: $0) })
    let ages = try await local.client.transaction { transaction in
      let ann = try transaction.save(Person(name: "Ann", age: 2000), in: people)
      #expect(ann.id?.isEmpty == false)
      #expect(try transaction.remove(id: "999", in: people))
      #expect(try transaction.remove(id: "999", in: people) == false)
      let updated = try transaction.update(
        \.age == 998, Update().set(\.age, 1500), in: people)
      #expect(updated.matched == 1 && updated.modified == 1)
      var ages: [Int] = []
      var found = try transaction.find(Query(\.age >= 500).sorted(by: \.age), in: people)
      while let person = try found.next() { ages.append(person.age) }
      return ages
    }
    #expect(ages == Array(500..<998) + [1500, 2000])
  }

  @Test("What the closure throws comes out, and nothing was written")
  func thrown() async throws {
    let local = try Local()
    let people = local.people
    await #expect(throws: Refusal.self) {
      try await local.client.transaction { transaction in
        try transaction.save(Person(id: "1", name: "Ann", age: 31), in: people)
        throw Refusal()
      }
    }
    #expect(try await people.count() == 0)
    try await people.save(Person(id: "1", name: "Ann", age: 31))
    let twice = await #expect(throws: KVStoreError.self) {
      try await local.client.transaction { (transaction) throws(KVStoreError) in
        try transaction.remove(id: "1", in: people)
        try transaction.save(Person(id: "2", name: "Bob", age: 20), in: people)
        try transaction.insert(Person(id: "2", name: "Bob", age: 20), in: people)
      }
    }
    #expect(twice?.code == .conflict)
    #expect(try await people.find().all().map(\.name) == ["Ann"])
  }

  @Test("A transaction whose reads were overtaken runs once more, and loses nothing")
  func retried() async throws {
    let local = try Local()
    let people = local.people
    try await people.save(Person(id: "1", name: "Ann", age: 0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<20 {
            try await local.client.transaction(retries: 10_000) { transaction in
              guard var ann = try transaction.find(id: "1", in: people) else { throw Refusal() }
              ann.age += 1
              try transaction.save(ann, in: people)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await people.find(id: "1")?.age == 160)
  }

  @Test("Without retries a transaction that was overtaken is a conflict")
  func overtaken() async throws {
    let local = try Local()
    let people = local.people
    try await people.save(Person(id: "1", name: "Ann", age: 0))
    let (entered, enter) = AsyncStream.makeStream(of: Void.self)
    let gate = Gate()
    let late = Task {
      try await local.client.transaction(retries: 0) { (transaction) throws(KVStoreError) in
        guard var ann = try transaction.find(id: "1", in: people) else { return }
        enter.yield()
        #expect(gate.wait())
        ann.age += 1
        try transaction.save(ann, in: people)
      }
    }
    for await _ in entered { break }
    try await people.save(Person(id: "1", name: "Bob", age: 20))
    gate.open()
    let error = await #expect(throws: KVStoreError.self) { try await late.value }
    #expect(error?.code == .conflict)
    #expect(try await people.find(id: "1")?.name == "Bob")
  }

  @Test("A store of another client is misuse")
  func otherClient() async throws {
    let (local, other) = (try Local(), try Local())
    let theirs = other.people
    let error = await #expect(throws: KVStoreError.self) {
      try await local.client.transaction { transaction in
        try transaction.save(Person(name: "Ann", age: 31), in: theirs)
      }
    }
    #expect(error?.code == .misuse)
  }

  @Test("Options that are none are refused")
  func invalid() async throws {
    let local = try Local()
    let error = await #expect(throws: KVStoreError.self) {
      try await local.client.transaction(retries: -1) { _ in }
    }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("retries") == true)
  }
}
