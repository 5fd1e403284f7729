import KVBase
import KVStore
import KVTestSupport
import Testing

@Suite("Backends of a program's own") struct CustomBackendTests {
  @Test("What one client pushes, another one pulls; refusals and failures are told as such")
  func shares() async throws {
    let shelf = Shelf()
    let name = "shelf-\(UInt64.random(in: 0...UInt64.max))"
    try KVStoreClient.register(shelf, as: name, description: #"{"requestsAtOnce":2}"#)
    let taken = #expect(throws: KVStoreError.self) {
      try KVStoreClient.register(shelf, as: name)
    }
    #expect(taken?.code == .conflict)
    let directory = TemporaryDirectory()
    let clients = try ["one", "other"].map { try client($0, of: name, in: directory) }
    let people = try clients.map { try $0.store("people", of: Person.self) }
    let saved = try await people[0].save(Person(name: "Ann", age: 31))
    try await people[0].save(Person(name: "Bob", age: -1))
    let pushed = try await people[0].push()
    #expect(pushed.pushed == 1 && pushed.quarantined == 1)
    #expect(pushed.errors.first?.message.contains("Nobody is that young.") == true)
    #expect(try await people[1].pull().pulled == 1)
    #expect(try await people[1].find(id: saved.id ?? "")?.name == "Ann")
    let live = #expect(throws: KVStoreError.self) { try people[1].live() }
    #expect(live?.code == .unsupported)
    shelf.failure.withLock { $0 = BackendFailure(.network, "Nobody is there.") }
    let offline = await #expect(throws: KVStoreError.self) { try await people[1].pull() }
    #expect(offline?.code == .network && offline?.message.contains("Nobody is there.") == true)
    shelf.failure.withLock { $0 = BackendFailure(.forbidden, "Not you.") }
    let refused = await #expect(throws: KVStoreError.self) { try await people[1].pull() }
    #expect(refused?.code == .forbidden)
    for client in clients { await client.close() }
    try KVStoreClient.unregister(name)
    let gone = #expect(throws: KVStoreError.self) { try KVStoreClient.unregister(name) }
    #expect(gone?.code == .notFound)
    #expect(throws: KVStoreError.self) { try client("third", of: name, in: directory) }
  }

  @Test("A request that nobody waits for any more is cancelled, and holds up nobody")
  func cancels() async throws {
    let shelf = Shelf()
    let name = "slow-\(UInt64.random(in: 0...UInt64.max))"
    try KVStoreClient.register(shelf, as: name, description: #"{"requestsAtOnce":1}"#)
    defer { try? KVStoreClient.unregister(name) }
    let directory = TemporaryDirectory()
    let client = try client("one", of: name, in: directory)
    let people = try client.store("people", of: Person.self)
    shelf.isStuck.withLock { $0 = true }
    let pull = Task { try await people.pull() }
    for await _ in shelf.begun.stream.prefix(1) {}
    pull.cancel()
    let given = await #expect(throws: KVStoreError.self) { try await pull.value }
    #expect(given?.code == .cancelled)
    shelf.isStuck.withLock { $0 = false }
    #expect(try await people.pull().pulled == 0)
    #expect(shelf.cancelled.withLock { $0 } == 1)
    await client.close()
  }

  private func client(
    _ directory: String, of backend: String, in root: TemporaryDirectory
  ) throws -> KVStoreClient {
    var configuration = Configuration(appKey: "kid_test", backend: .custom(backend))
    configuration.dataDirectory = root.file(directory)
    configuration.durability = .normal
    configuration.calls.retries = 0
    configuration.calls.timeout = 600
    return try KVStoreClient(configuration)
  }
}

/// Records in memory.
private final class Shelf: CustomBackend {
  let records = Monitor<[String: Person]>([:])
  let failure = Monitor<BackendFailure?>(nil)
  let isStuck = Monitor(false)
  /// Has an element for each request that is stuck.
  let begun = AsyncStream<Void>.makeStream()
  let cancelled = Monitor(0)

  private struct IDs: Decodable { var ids: [String] }
  private struct Writes: Decodable {
    struct Write: Decodable {
      var id: String
      var record: Person?
    }
    var writes: [Write]
  }
  private struct Records: Encodable { var records: [Person] }
  private struct Results: Encodable {
    struct Refusal: Encodable { var message: String }
    struct Result: Encodable {
      var stored: Person?
      var deleted: Bool?
      var refused: Refusal?
    }
    var results: [Result] = []
  }

  func answer(_ request: BackendRequest) async throws -> BackendAnswer {
    if isStuck.withLock({ $0 }) {
      begun.continuation.yield()
      do { try await Task.sleep(for: .seconds(600)) } catch {
        cancelled.withLock { $0 += 1 }
        throw error
      }
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
    switch request.operation {
    case .fetch: return try BackendAnswer(Records(records: records.withLock { Array($0.values) }))
    case .fetchIDs:
      let ids = try request.decoded(as: IDs.self).ids
      return try BackendAnswer(
        Records(records: records.withLock { all in ids.compactMap { all[$0] } }))
    case .write:
      var results = Results()
      for write in try request.decoded(as: Writes.self).writes {
        results.results.append(carryOut(write))
      }
      return try BackendAnswer(results)
    default: throw BackendFailure(.unsupported, "There is none.")
    }
  }

  private func carryOut(_ write: Writes.Write) -> Results.Result {
    guard let record = write.record else {
      return .init(deleted: records.withLock { $0.removeValue(forKey: write.id) } != nil)
    }
    guard record.age >= 0 else { return .init(refused: .init(message: "Nobody is that young.")) }
    records.withLock { $0[write.id] = record }
    return .init(stored: record)
  }
}
