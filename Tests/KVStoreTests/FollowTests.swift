import KVStore
import KVTestSupport
import Testing

@Suite struct FollowTests {
  /// Two devices of one user, the second of which only reads.
  private func devices(
    _ backend: Backend
  ) async throws -> (KVStoreClient, KVStoreClient) {
    let (phone, tablet) = (try backend.client("phone"), try backend.client("tablet"))
    try await phone.signup(username: "ann", password: "a password")
    try await tablet.login(username: "ann", password: "a password")
    return (phone, tablet)
  }

  @Test(
    "What is saved on one device appears on the one that follows, and the other way round",
    arguments: [true, false])
  func follow(usesLive: Bool) async throws {
    let backend = try Backend()
    let (phone, tablet) = try await devices(backend)
    let here = try phone.store("people", of: Person.self)
    let there = try tablet.store("people", of: Person.self)
    try await here.save(Person(id: "1", name: "Ann", age: 31))
    try await here.push()
    let follow = try there.follow(\.age > 30, interval: 0.1, usesLive: usesLive)
    #expect(follow.status.collection == "people")
    #expect(follow.status.filter == #"{"age":{"$gt":30}}"#)
    // It may be current before it is live.
    for try await status in follow.statuses
    where status.state == .current && status.isLive == usesLive {
      #expect(status.lastSynced != nil)
      break
    }
    #expect(try await there.find().all().map(\.name) == ["Ann"])
    #expect(try await tablet.status().follows.map(\.collection) == ["people"])

    var seen = try there.observe().makeAsyncIterator()
    try await here.save(Person(id: "2", name: "Bob", age: 40))
    try await here.push()
    while try await there.count() < 2 { _ = try await seen.next() }

    try await there.save(Person(id: "3", name: "Cy", age: 50))
    for try await status in try tablet.statuses() where status.pending == 0 { break }
    try await here.pull()
    #expect(try await here.find(id: "3")?.name == "Cy")

    follow.close()
    #expect(follow.status.state == .closed)
    for try await _ in follow.statuses {}
    #expect(try await tablet.status().follows.isEmpty)
    await phone.close()
    await tablet.close()
  }

  @Test(
    "A follow that nobody has any more ends, and so does one whose task is cancelled",
    arguments: [true, false])
  func ended(byCancelling: Bool) async throws {
    let backend = try Backend()
    let (phone, tablet) = try await devices(backend)
    let people = try phone.store("people", of: Person.self)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    if byCancelling {
      let follow = try people.follow()
      let task = Task {
        for try await _ in follow.statuses { begin.yield() }
        return true
      }
      for await _ in begun { break }
      task.cancel()
      #expect(try await task.value)
      #expect(follow.status.state == .closed)
    } else {
      for try await _ in try people.follow().statuses { break }
    }
    #expect(try await phone.status().follows.isEmpty)
    await phone.close()
    await tablet.close()
  }

  @Test("A query with a page cannot be followed")
  func page() async throws {
    let backend = try Backend()
    let client = try backend.client("client")
    let people = try client.store("people", of: Person.self)
    let error = #expect(throws: KVStoreError.self) { try people.follow(Query().limit(3)) }
    #expect(error?.code == .invalid)
    await client.close()
  }
}
