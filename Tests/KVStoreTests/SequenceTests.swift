import KVStore
import Testing

@Suite struct SequenceTests {
  private func save(_ count: Int, in people: DataStore<Person>) async throws {
    try await people.save((0..<count).map { Person(id: "\($0)", name: "p\($0)", age: $0) })
  }

  @Test("A find gives everything that matches, in order, however many there are")
  func find() async throws {
    let local = try Local()
    try await save(3000, in: local.people)
    var ages: [Int] = []
    for try await person in local.people.find(
      Query(\.age >= 500).sorted(by: \.age, ascending: false))
    {
      ages.append(person.age)
    }
    #expect(ages == Array((500..<3000).reversed()))
    #expect(try await local.people.find(Query().sorted(by: \.age)).first()?.age == 0)
    #expect(try await local.people.find(\.age < 3).all().count == 3)
    #expect(try await local.people.find(\.age < 0).first() == nil)
  }

  @Test("A cancelled task reads no further")
  func cancelledFind() async throws {
    let local = try Local()
    try await save(3000, in: local.people)
    let people = local.people
    let task = Task { () -> KVStoreError? in
      do throws(KVStoreError) {
        withUnsafeCurrentTask { $0?.cancel() }
        for try await _ in people.find() {}
        return nil
      } catch {
        return error
      }
    }
    #expect(await task.value?.code == .cancelled)
  }

  @Test("An observer tells the result as it is, then what changes in it")
  func observe() async throws {
    let local = try Local()
    try await save(5, in: local.people)
    var observed = try local.people.observe(Query(\.age > 1).sorted(by: \.age)).makeAsyncIterator()
    var shown: [Person] = []
    let first = try #require(try await observed.next())
    #expect(first.isInitial)
    first.apply(to: &shown)
    #expect(shown.map(\.age) == [2, 3, 4])

    try await local.people.save(Person(id: "9", name: "new", age: 9))
    try await local.people.save(Person(id: "3", name: "p3", age: 30))
    try await local.people.save(Person(id: "2", name: "changed", age: 2))
    try await local.people.remove(id: "4")
    while shown.map(\.age) != [2, 9, 30] || shown.first?.name != "changed" {
      let changes = try #require(try await observed.next())
      changes.apply(to: &shown)
      #expect(shown.count == changes.count)
    }
  }

  @Test("An observer ends with its task, and with the client", arguments: [true, false])
  func endObserving(byCancelling: Bool) async throws {
    let local = try Local()
    let observed = try local.people.observe()
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      for try await _ in observed { begin.yield() }
      return true
    }
    for await _ in begun { break }
    if byCancelling { task.cancel() } else { await local.client.close() }
    #expect(try await task.value)
  }

  @Test("Closing the client ends its events")
  func closedEvents() async throws {
    let local = try Local()
    var events = local.client.syncEvents().makeAsyncIterator()
    await local.client.close()
    #expect(await events.next() == nil)
  }
}
