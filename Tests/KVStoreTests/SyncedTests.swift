import KVStore
import Testing

@Suite("A synced store") struct SyncedTests {
  @Test("sends and receives by itself, with its events, and can be stopped and cleared")
  func synced() async throws {
    let backend = try Backend()
    let (phone, tablet) = (try backend.client("phone"), try backend.client("tablet"))
    try await phone.signup(username: "ann", password: "a password")
    try await tablet.login(username: "ann", password: "a password")
    let here = try phone.store("people", of: Person.self)
    try await here.save(Person(id: "1", name: "Ann", age: 31))
    try await here.push()

    let events = tablet.syncEvents()
    func until(_ isIt: (BackgroundEvent) -> Bool) async {
      for await event in events {
        if case .background(let event) = event, isIt(event) { return }
      }
    }
    let there = try tablet.store("people", of: Person.self, type: .synced)
    await until { event in
      guard case .modelSynced("people", let counts) = event else { return false }
      #expect(counts.added == 1 && counts.isComplete && !counts.isDelta && !counts.isCapped)
      return true
    }
    await until { if case .ready = $0 { true } else { false } }
    #expect(try await there.find().all().map(\.name) == ["Ann"])
    for try await changes in try there.observe() {
      #expect(changes.isSynced)
      #expect(changes.insertions.map(\.source) == [.remote])
      break
    }

    try await there.save(Person(id: "2", name: "Bob", age: 40))
    await until { event in
      guard case .processed(let write, let entity) = event else { return false }
      #expect(write.id == "2" && write.collection == "people" && entity != nil)
      return true
    }
    try await here.pull()
    #expect(try await here.count() == 2)

    try tablet.setSyncExpression(#"{"age":{"$gt":35}}"#, of: "people")
    await until { if case .modelSynced(_, let counts) = $0 { counts.deleted == 1 } else { false } }
    #expect(try await there.find().all().map(\.name) == ["Bob"])

    tablet.stopSync()
    try await there.save(Person(id: "3", name: "Cy", age: 50))
    for try await changes in try there.observe() {
      #expect(!changes.isSynced)
      #expect(changes.insertions.map(\.source) == [.remote, .local])
      break
    }
    let refused = await #expect(throws: KVStoreError.self) { try await tablet.clear() }
    #expect(refused?.code == .pending)
    try await tablet.clear(discardingPending: true)
    #expect(try await there.count() == 0)
    try tablet.startSync()
    await until { if case .ready = $0 { true } else { false } }
    #expect(try await there.find().all().map(\.name) == ["Bob"])
    await phone.close()
    await tablet.close()
  }
}
