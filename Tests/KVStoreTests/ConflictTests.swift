import KVStore
import KVTestSupport
import Testing

/// One user with two devices that have changed the same entity.
private struct Devices {
  let backend: Backend
  let phone: KVStoreClient
  let tablet: KVStoreClient
  let here: DataStore<Person>
  let there: DataStore<Person>

  /// `ours` and `theirs` change it on the phone and on the tablet; only the tablet has pushed.
  init(
    ours: (DataStore<Person>) async throws -> Void, theirs: (DataStore<Person>) async throws -> Void
  ) async throws {
    backend = try Backend()
    phone = try backend.client("phone")
    tablet = try backend.client("tablet")
    try await phone.signup(username: "ann", password: "a password")
    try await tablet.login(username: "ann", password: "a password")
    here = try phone.store("people", of: Person.self)
    there = try tablet.store("people", of: Person.self)
    try await here.save(Person(id: "1", name: "Ann", age: 31))
    try await here.push()
    try await there.pull()
    try await theirs(there)
    try await there.push()
    try await ours(here)
  }

  /// The same for two saves.
  init(ours: Person, theirs: Person) async throws {
    try await self.init {
      try await $0.save(ours)
    } theirs: {
      try await $0.save(theirs)
    }
  }

  func close() async {
    await phone.close()
    await tablet.close()
  }
}

@Suite struct ConflictTests {
  private let ours = Person(id: "1", name: "Anna", age: 31)
  private let theirs = Person(id: "1", name: "Ann", age: 32)

  @Test(
    "A handler sees what both started from, ours and theirs, and its merged entity is kept on both sides"
  )
  func merged() async throws {
    let devices = try await Devices(ours: ours, theirs: theirs)
    let (asked, ask) = AsyncStream.makeStream(of: Conflict<Person>.self)
    try devices.here.setConflictHandler { conflict in
      ask.yield(conflict)
      guard var merged = conflict.theirs, let ours = conflict.ours else { return .leaveOpen }
      merged.name = ours.name
      // Awaiting is allowed, also a call of the client that asks.
      guard (try? await devices.here.count()) == 1 else { return .leaveOpen }
      return .merged(merged)
    }
    let result = try await devices.here.push()
    #expect(result.errors == [] && result.pushed == 1)
    ask.finish()
    var conflicts: [Conflict<Person>] = []
    for await conflict in asked { conflicts.append(conflict) }
    #expect(conflicts.map(\.id) == ["1"])
    #expect(conflicts.first?.base == Person(id: "1", name: "Ann", age: 31))
    #expect(conflicts.first?.ours == ours)
    #expect(conflicts.first?.theirs == theirs)
    let merged = Person(id: "1", name: "Anna", age: 32)
    #expect(try await devices.here.find(id: "1") == merged)
    try await devices.there.pull()
    #expect(try await devices.there.find(id: "1") == merged)
    await devices.close()
  }

  @Test(
    "Ours, theirs, a deletion, or nothing: what the handler says is done",
    arguments: ["keep", "take", "delete", "leave"])
  func decisions(_ decision: String) async throws {
    let devices = try await Devices(ours: ours, theirs: theirs)
    try devices.here.setConflictHandler { _ in
      switch decision {
      case "keep": .keepOurs
      case "take": .takeTheirs
      case "delete": .delete
      default: .leaveOpen
      }
    }
    let result = try await devices.here.push()
    let expected: Person? = decision == "take" ? theirs : decision == "delete" ? nil : ours
    #expect(try await devices.here.find(id: "1") == expected)
    #expect(result.errors.map(\.code) == (decision == "leave" ? [.conflict] : []))
    #expect(try await devices.here.pending.count() == (decision == "leave" ? 1 : 0))
    try await devices.there.pull()
    #expect(
      try await devices.there.find(id: "1") == (decision == "leave" ? theirs : expected))
    await devices.close()
  }

  @Test("Deletions have no entity on their side")
  func deletions() async throws {
    let devices = try await Devices {
      _ = try await $0.save(ours)
    } theirs: {
      try await $0.remove(id: "1")
    }
    try devices.here.setConflictHandler { conflict in
      conflict.theirs == nil && conflict.ours == ours ? .keepOurs : .leaveOpen
    }
    #expect(try await devices.here.push().errors == [])
    try await devices.there.pull()
    #expect(try await devices.there.find(id: "1") == ours)
    await devices.close()
  }

  @Test("Without a handler any more, ours wins as it did before")
  func removed() async throws {
    let devices = try await Devices(ours: ours, theirs: theirs)
    try devices.here.setConflictHandler { _ in .takeTheirs }
    try devices.here.setConflictHandler(nil)
    #expect(try await devices.here.push().errors == [])
    try await devices.there.pull()
    #expect(try await devices.there.find(id: "1") == ours)
    await devices.close()
  }

  @Test("A version that does not fit the type leaves the conflict open, and the others are decided")
  func refused() async throws {
    struct Loose: Codable, Sendable {
      var _id: String
      var name: String
      var age: String
    }
    let devices = try await Devices(ours: ours, theirs: theirs)
    try await devices.here.save(Person(id: "2", name: "Bob", age: 20))
    try await devices.here.push(options: devices.clientWins)
    try await devices.there.pull()
    let loose = try devices.tablet.store("people", of: Loose.self)
    try await loose.save(Loose(_id: "1", name: "Ann", age: "old"))
    try await devices.there.save(Person(id: "2", name: "Bob", age: 21))
    try await devices.there.push()
    try await devices.here.save(ours)
    try await devices.here.save(Person(id: "2", name: "Bob", age: 22))
    try devices.here.setConflictHandler { _ in .takeTheirs }
    let result = try await devices.here.push()
    #expect(result.errors.map(\.id) == ["1"])
    #expect(result.errors.map(\.code) == [.conflict])
    #expect(try await devices.here.find(id: "2")?.age == 21)
    let refused = await #expect(throws: KVStoreError.self) {
      try await devices.here.pending.detail(of: "1")
    }
    #expect(refused?.code == .invalid)
    await devices.close()
  }

  @Test("A handler that gives another entity is refused by name")
  func anotherId() async throws {
    let devices = try await Devices(ours: ours, theirs: theirs)
    try devices.here.setConflictHandler { _ in .merged(Person(id: "2", name: "Bob", age: 20)) }
    let error = await #expect(throws: KVStoreError.self) { try await devices.here.push() }
    #expect(error?.code == .invalid && error?.id == "1")
    #expect(try await devices.here.find(id: "1") == ours)
    await devices.close()
  }

  @Test(
    "Closing the client, also from a handler, ends the push that asks", arguments: [true, false])
  func closing(inHandler: Bool) async throws {
    let devices = try await Devices(ours: ours, theirs: theirs)
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let phone = devices.phone
    try devices.here.setConflictHandler { _ in
      ask.yield()
      if inHandler {
        await phone.close()
      } else {
        // Until it is cancelled with the push.
        for await _ in AsyncStream<Void>.makeStream().stream {}
      }
      return .keepOurs
    }
    let push = Task { try await devices.here.push() }
    for await _ in asked { break }
    if !inHandler { await phone.close() }
    let error = await #expect(throws: KVStoreError.self) { try await push.value }
    #expect(error?.code == .cancelled)
    await devices.close()
  }

  @Test("A network store has no conflicts")
  func network() async throws {
    let backend = try Backend()
    let client = try backend.client("client")
    let people = try client.store("people", of: Person.self, type: .network)
    let error = #expect(throws: KVStoreError.self) {
      try people.setConflictHandler { _ in .keepOurs }
    }
    #expect(error?.code == .unsupported)
    await client.close()
  }

  // MARK: What is left open

  @Test("A conflict that is left open waits in the queue, with what the backend has")
  func pending() async throws {
    let devices = try await Devices(ours: ours, theirs: theirs)
    try devices.here.setConflictHandler { _ in .leaveOpen }
    try await devices.here.push()
    var writes: [PendingWrite] = []
    for try await write in devices.here.pending { writes.append(write) }
    #expect(writes.map(\.id) == ["1"])
    let write = try #require(writes.first)
    #expect(write.operation == .update && write.state == .conflict && write.attempts == 1)
    #expect(write.error?.code == .conflict)
    #expect(write.createdAt <= write.changedAt && write.changedAt <= .now())
    let detail = try #require(try await devices.here.pending.detail(of: "1"))
    #expect(detail.write == write)
    #expect(detail.entity == ours && detail.theirs == theirs && !detail.isGone)
    #expect(detail.base == Person(id: "1", name: "Ann", age: 31))

    try await devices.here.pending.retry(id: "1")
    #expect(try await devices.here.pending.count() == 0)
    try await devices.there.pull()
    #expect(try await devices.there.find(id: "1") == ours)
    await devices.close()
  }

  @Test("Reverting takes theirs")
  func revert() async throws {
    let devices = try await Devices(ours: ours, theirs: theirs)
    try devices.here.setConflictHandler { _ in .leaveOpen }
    try await devices.here.push()
    try await devices.here.pending.revert(id: "1")
    #expect(try await devices.here.find(id: "1") == theirs)
    #expect(try await devices.here.pending.detail(of: "1") == nil)
    await devices.close()
  }
}

extension Devices {
  fileprivate var clientWins: CallOptions {
    var options = CallOptions()
    options.conflicts = .clientWins
    return options
  }
}
