import KVStore
import KVTestSupport
import Testing

@Suite struct PendingTests {
  @Test("The queue is read in order and in pages, and may be emptied meanwhile")
  func pages() async throws {
    let backend = try Backend()
    let client = try backend.client("client")
    let people = try client.store("people", of: Person.self)
    try await people.save((0..<250).map { Person(id: "\($0)", name: "p", age: $0) })
    #expect(try await people.pending.count() == 250)
    var ids: [String] = []
    for try await write in people.pending {
      #expect(write.state == .waiting && write.attempts == 0 && write.error == nil)
      ids.append(write.id)
      try await people.pending.drop(id: write.id)
    }
    #expect(ids == (0..<250).map { "\($0)" })
    #expect(try await people.pending.count() == 0)
    #expect(try await people.count() == 250)
    await client.close()
  }

  @Test("A pending write is edited, dropped, reverted and forgotten by query")
  func changes() async throws {
    let backend = try Backend()
    let client = try backend.client("client")
    try await client.signup(username: "ann", password: "a password")
    let people = try client.store("people", of: Person.self)
    try await people.save((1...4).map { Person(id: "\($0)", name: "p", age: $0) })
    try await people.pending.edit(id: "1", to: Person(name: "Ann", age: 31))
    #expect(try await people.find(id: "1")?.name == "Ann")
    #expect(try await people.pending.detail(of: "1")?.entity?.age == 31)
    try await people.pending.revert(id: "2")
    #expect(try await people.find(id: "2") == nil)
    #expect(try await people.pending.drop(\.age == 3) == 1)
    #expect(try await people.find(id: "3")?.age == 3)
    #expect(try await people.push().pushed == 2)
    let error = await #expect(throws: KVStoreError.self) {
      try await people.pending.edit(id: "1", to: Person(name: "Ann", age: 31))
    }
    #expect(error?.code == .notFound && error?.id == "1")
    await client.close()
  }

  @Test("What the backend refuses is set aside, and sent again when that is asked for")
  func refused() async throws {
    let backend = try Backend()
    let (ann, bob) = (try backend.client("ann"), try backend.client("bob"))
    try await ann.signup(username: "ann", password: "a password")
    try await bob.signup(username: "bob", password: "a password")
    let hers = try ann.store("people", of: Person.self)
    try await hers.save(Person(id: "1", name: "Ann", age: 31))
    try await hers.push()
    let his = try bob.store("people", of: Person.self)
    try await his.pull()
    try await his.save(Person(id: "1", name: "Bob", age: 20))
    let result = try await his.push()
    #expect(result.errors.map(\.id) == ["1"] && result.quarantined == 1)
    let write = try #require(try await his.pending.detail(of: "1")?.write)
    #expect(write.state == .refused)
    #expect(write.error?.answer?.status == result.errors.first?.answer?.status)
    #expect(write.error?.code == result.errors.first?.code)
    #expect(try await his.push().errors == [])
    #expect(try await his.pending.retryAll().errors.map(\.id) == ["1"])
    try await his.pending.drop(id: "1")
    try await his.pull()
    #expect(try await his.find(id: "1")?.name == "Ann")
    await ann.close()
    await bob.close()
  }

  @Test("A network store has no queue")
  func network() async throws {
    let backend = try Backend()
    let client = try backend.client("client")
    let people = try client.store("people", of: Person.self, type: .network)
    #expect(try await people.pending.count() == 0)
    let error = await #expect(throws: KVStoreError.self) {
      for try await _ in people.pending {}
    }
    #expect(error?.code == .unsupported)
    await client.close()
  }
}
