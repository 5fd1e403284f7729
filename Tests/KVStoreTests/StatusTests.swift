import KVStore
import KVTestSupport
import Testing

@Suite struct StatusTests {
  @Test("The status says who is there, what waits, and when each collection was read")
  func status() async throws {
    let backend = try Backend()
    let client = try backend.client("client")
    let before = try await client.status()
    #expect(before.isOnline == nil && !before.isSignedIn && before.collections.isEmpty)
    try await client.signup(username: "ann", password: "a password")
    let people = try client.store("people", of: Person.self)
    try await people.save(Person(name: "Ann", age: 31))
    let saved = try await client.status()
    #expect(saved.isOnline == true && saved.isSignedIn)
    #expect(saved.pending == 1 && saved.quarantined == 0)
    #expect(saved.collections.map(\.name) == ["people"])
    #expect(saved.collections.first?.pending == 1)
    #expect(saved.collections.first?.lastSynced == nil)
    try await people.sync()
    let synced = try await client.status()
    #expect(synced.pending == 0 && synced.activities.isEmpty && synced.follows.isEmpty)
    #expect(try #require(synced.collections.first?.lastSynced) <= .now())
    await client.close()
  }

  @Test("Disk space that is not needed is given back, once no sequence reads an older state")
  func compacts() async throws {
    let local = try Local()
    try await local.people.save(
      (0..<500).map { Person(name: String(repeating: "x", count: 1000), age: $0) })
    var people = local.people.find().makeAsyncIterator()
    #expect(try await people.next() != nil)
    try await local.people.clear()
    var short = CallOptions()
    short.timeout = 0.05
    let error = await #expect(throws: KVStoreError.self) {
      try await local.client.compact(options: short)
    }
    #expect(error?.code == .busy)
    while try await people.next() != nil {}
    let sizes = try await local.client.compact()
    #expect(sizes.after > 0 && sizes.after < 300_000)
    await local.client.close()
  }

  @Test("Local data is copied while it is used") func backsUp() async throws {
    let local = try Local()
    let directory = TemporaryDirectory()
    try await local.people.save(Person(name: "Ann", age: 31))
    let backup = try await local.client.backUp(to: directory.file("copy"))
    #expect(backup.tags == ["kinvey"] && backup.bytes > 0)
    let error = await #expect(throws: KVStoreError.self) {
      try await local.client.backUp(to: directory.file("copy"))
    }
    #expect(error?.code == .conflict)
    await local.client.close()
  }

  @Test("Statuses come after changes, and end with the client")
  func statuses() async throws {
    let local = try Local()
    var statuses = try local.client.statuses().makeAsyncIterator()
    #expect(try await statuses.next()?.pending == 0)
    try await local.people.save(Person(name: "Ann", age: 31))
    while let status = try await statuses.next(), status.pending == 0 {}
    await local.client.close()
    #expect(try await statuses.next() == nil)
    let error = #expect(throws: KVStoreError.self) { try local.client.statuses() }
    #expect(error?.code == .misuse)
  }
}
