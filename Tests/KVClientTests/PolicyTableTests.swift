import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import Testing

/// What the backend is like while an operation runs.
enum Weather: String, CaseIterable, Sendable {
  /// The backend answers.
  case fair
  /// The backend cannot be reached.
  case offline
  /// The backend answers with an error.
  case refusing
}

/// The outcome of an operation.
enum Outcome: Equatable {
  case local(JSONValue)
  case network(JSONValue)
  case failure(StoreError.Kind)
}

@Suite("Every type of store in every weather") struct PolicyTableTests {
  /// A synced store does what a sync store does, beside what happens in the background.
  private static let types = StoreType.allCases.filter { $0 != .synced }

  // MARK: Reads

  /// The local store has `a` with 1; the backend has it with 2, and `b`.
  private static func readExpected(_ type: StoreType, _ weather: Weather) -> (
    early: Bool, answer: (_ local: JSONValue, _ network: JSONValue) -> Outcome
  ) {
    let refused = StoreError.Kind.unauthorized
    return switch (type, weather) {
    case (.sync, _), (.synced, _): (false, { local, _ in .local(local) })
    case (.auto, .offline): (false, { local, _ in .local(local) })
    case (.auto, .refusing): (false, { _, _ in .failure(refused) })
    case (.auto, .fair), (.network, .fair): (false, { _, network in .network(network) })
    case (.cache, .fair): (true, { _, network in .network(network) })
    case (.cache, .offline): (true, { _, _ in .failure(.network) })
    case (.cache, .refusing): (true, { _, _ in .failure(refused) })
    case (.network, .offline): (false, { _, _ in .failure(.network) })
    case (.network, .refusing): (false, { _, _ in .failure(refused) })
    }
  }

  @Test("reads as the table says", arguments: Self.types, Weather.allCases)
  func reads(_ type: StoreType, _ weather: Weather) throws {
    let scene = try Scene(type)
    defer { scene.close() }
    try scene.prepareReads()
    try scene.turn(weather)
    try check(scene.store, DataStore.Run(), type: type, weather: weather)
  }

  @Test("a policy does the same for one call of another type", arguments: StoreType.allCases)
  func readPolicies(_ like: StoreType) throws {
    guard like != .network else { return }
    for weather in Weather.allCases {
      let scene = try Scene(like == .sync ? .auto : .sync)
      defer { scene.close() }
      try scene.prepareReads()
      try scene.turn(weather)
      var options = Options()
      options.readPolicy = like.readPolicy
      try check(scene.store, DataStore.Run(options), type: like, weather: weather)
    }
  }

  private func check(
    _ store: DataStore, _ run: DataStore.Run, type: StoreType, weather: Weather
  ) throws {
    let expected = Self.readExpected(type, weather)
    // Counted first: the others bring what they find.
    var early: [JSONValue] = []
    let count = outcome {
      let answer = try store.count(Query(), run) { early.append(.int(Int64($0))) }
      return (.int(Int64(answer.value)), answer.isLocal)
    }
    #expect(count == expected.answer(1, 2))
    #expect(early == (expected.early ? [1] : []))

    early = []
    let one = outcome {
      let answer = try store.find(id: "a", run) { early.append(value(of: $0)) }
      return (value(of: answer.value), answer.isLocal)
    }
    #expect(one == expected.answer(1, 2))
    #expect(early == (expected.early ? [1] : []))

    early = []
    let isChanged = weather == .fair && type != .sync && type != .network
    let many = outcome {
      let answer = try store.find(Query(), run) { early.append(values(of: $0)) }
      return (values(of: answer.value), answer.isLocal)
    }
    #expect(many == expected.answer([1], [2, 3]))
    #expect(early == (expected.early ? [isChanged ? [2] : [1]] : []))
  }

  // MARK: Writes

  @Test("writes as the table says", arguments: Self.types, Weather.allCases)
  func writes(_ type: StoreType, _ weather: Weather) throws {
    let scene = try Scene(type)
    defer { scene.close() }
    try scene.prepareReads()
    try scene.turn(weather)
    let sends = type != .sync && weather == .fair
    let keeps = type.isLocal
    var waiting = 0
    var early = 0
    let expected = Self.writeExpected(type, weather)

    func check(_ what: String, _ outcome: Outcome) throws {
      #expect(outcome == expected, "\(what)")
      #expect(early == (type == .cache ? 1 : 0), "\(what)")
      waiting += keeps && !sends ? 1 : 0
      #expect(try scene.store.pendingCount() == waiting, "\(what)")
      early = 0
    }

    let entity = Array(#"{"_id":"c","n":4}"#.utf8)
    try check(
      "save",
      outcome {
        let answer = try entity.withUnsafeBytes {
          try scene.store.save($0, DataStore.Run()) { _ in early += 1 }
        }
        return (1, answer.isLocal)
      })
    let entities = Array(#"[{"n":5}]"#.utf8)
    try check(
      "save many",
      outcome {
        let answer = try entities.withUnsafeBytes {
          try scene.store.saveMany($0, DataStore.Run()) { _ in early += 1 }
        }
        if let error = answer.value.errors.first { throw error }
        return (.int(Int64(answer.value.entities.count)), answer.isLocal)
      })
    try check(
      "remove by id",
      outcome {
        let answer = try scene.store.remove(id: "a", DataStore.Run()) { _ in early += 1 }
        return (.int(Int64(answer.value)), answer.isLocal)
      })
    if keeps { #expect(try scene.localValues() == [4, 5]) }
    if sends { #expect(try scene.backendValues() == [3, 4, 5]) }
    #expect(try scene.store.pendingCount() == waiting)
  }

  private static func writeExpected(_ type: StoreType, _ weather: Weather) -> Outcome {
    switch (type, weather) {
    case (.sync, _), (.synced, _), (.auto, .offline): .local(1)
    case (_, .fair): .network(1)
    case (_, .offline): .failure(.network)
    case (_, .refusing): .failure(.unauthorized)
    }
  }

  @Test("removes by query as the table says", arguments: Self.types, Weather.allCases)
  func removes(_ type: StoreType, _ weather: Weather) throws {
    let scene = try Scene(type)
    defer { scene.close() }
    try scene.prepareReads()
    try scene.turn(weather)
    // Here it matches `a`; on the backend `a` has changed, and `b` matches.
    let query = try Query(filter: #"{"n":{"$in":[1,3]}}"#)
    var early: [Int] = []
    let removed = outcome {
      let answer = try scene.store.remove(query, DataStore.Run()) { early.append($0) }
      return (.int(Int64(answer.value)), answer.isLocal)
    }
    #expect(removed == Self.writeExpected(type, weather))
    #expect(early == (type == .cache ? [1] : []))
    let sends = type != .sync && weather == .fair
    #expect(try scene.store.pendingCount() == (type.isLocal && !sends ? 1 : 0))
    if sends { #expect(try scene.backendValues() == (type == .network ? [2] : [])) }
    if type.isLocal { #expect(try scene.localValues() == []) }
  }

  // MARK: Helpers

  private func outcome(_ body: () throws -> (JSONValue, isLocal: Bool)) -> Outcome {
    do {
      let (value, isLocal) = try body()
      return isLocal ? .local(value) : .network(value)
    } catch {
      return .failure((error as? StoreError)?.kind ?? .internal)
    }
  }

  private func value(of entity: [UInt8]) -> JSONValue {
    (try? JSONValue(parsing: entity))?["n"] ?? .null
  }

  private func values(of cursor: any EntityCursor) -> JSONValue {
    defer { cursor.close() }
    var values: [Int64] = []
    while let entity = try? cursor.next({ Array($0) }) {
      values.append(value(of: entity).intValue ?? -1)
    }
    return .array(values.sorted().map { .int($0) })
  }
}

/// A user with a store on a server, and somebody else who changes what the server has.
private final class Scene {
  let world: World
  let ana: Client
  let bob: Client
  let store: DataStore
  private let type: StoreType

  init(_ type: StoreType) throws {
    self.type = type
    world = try World()
    ana = try world.member("ana")
    bob = try world.client("bob", ["masterSecret": "master"])
    store = try ana.store("notes", type: type.rawValue, nil)
  }

  func close() {
    ana.close()
    bob.close()
  }

  private func network() throws -> DataStore { try bob.store("notes", type: "network", nil) }

  /// The local store has `a` with 1; the backend has it with 2, and `b` with 3.
  func prepareReads() throws {
    let mine = try ana.store("notes", type: "network", nil)
    _ = try mine.save(["_id": "a", "n": 1])
    if type.isLocal { _ = try ana.store("notes", type: "sync", nil).pull(Query(), DataStore.Run()) }
    _ = try mine.save(["_id": "a", "n": 2])
    _ = try mine.save(["_id": "b", "n": 3])
  }

  func turn(_ weather: Weather) throws {
    switch weather {
    case .fair: return
    case .offline: world.stop()
    case .refusing:
      // A new password ends the sessions of all who know the old one.
      let other = try world.client("elsewhere")
      defer { other.close() }
      _ = try other.login(
        ["username": "ana", "password": "pw"], options: Options(), cancellation: Cancellation())
      _ = try other.updateUser(
        ["password": "new"], options: Options(), cancellation: Cancellation())
    }
  }

  func backendValues() throws -> [Int64] {
    try network().all().compactMap { $0["n"]?.intValue }.sorted()
  }

  func localValues() throws -> [Int64] {
    try ana.store("notes", type: "sync", nil).all().compactMap { $0["n"]?.intValue }.sorted()
  }
}
