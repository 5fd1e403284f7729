import KVBase
import KVClient
import KVJSON
import KVQuery
import KVServer
import KVSync
import KVTestSupport
import Testing

@Suite("A long local search") struct LocalBudgetTests {
  /// Which search: each in its own way through the store.
  enum Search: String, CaseIterable, CustomTestStringConvertible {
    case find, page, count, group, distinct

    var testDescription: String { rawValue }

    func run(_ store: DataStore, _ run: DataStore.Run) throws {
      switch self {
      case .find: try store.find(LocalBudgetTests.slow, run).value.close()
      case .page:
        var page = LocalBudgetTests.slow
        page.limit = 10
        try store.find(page, run).value.close()
      case .count: _ = try store.count(LocalBudgetTests.slow, run)
      case .group:
        let counting = GroupRequest.numbers(Grouping(keys: [Path("kind")], members: []))
        _ = try store.group(counting, LocalBudgetTests.slow, run: run)
      case .distinct: _ = try store.distinct("kind", LocalBudgetTests.slow, run: run)
      }
    }
  }

  /// Matches nothing, after looking for 500 members of each entity.
  static var slow: Query { Query(.or((0..<500).map { .field(Path("m\($0)"), [.equal(1)]) })) }

  private func withStore(_ body: (DataStore) throws -> Void) throws {
    let directory = TemporaryDirectory()
    let client = try Client([
      "appKey": "kid_test", "appSecret": "secret", "host": "http://127.0.0.1:9",
      "dataDirectory": .string(directory.path), "durability": "normal",
    ])
    defer { client.close() }
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.saveMany((0..<2_000).map { ["kind": .int($0 % 7), "text": "a text"] })
    try body(store)
  }

  @Test("ends with the call's deadline", arguments: Search.allCases)
  func deadline(search: Search) throws {
    var options = Options()
    options.timeout = 0.01
    try withStore { (store) throws in
      #expect(failure { try search.run(store, DataStore.Run(options)) }?.kind == .timeout)
    }
  }

  @Test("ends when the call is cancelled", arguments: Search.allCases)
  func cancelled(search: Search) throws {
    let cancellation = Cancellation()
    cancellation.cancel()
    try withStore { (store) throws in
      let run = DataStore.Run(cancellation: cancellation)
      #expect(failure { try search.run(store, run) }?.kind == .cancelled)
    }
  }

  @Test("leaves the store as it was") func storeGoesOn() throws {
    var options = Options()
    options.timeout = 0.01
    try withStore { (store) throws in
      #expect(failure { _ = try store.count(Self.slow, DataStore.Run(options)) } != nil)
      #expect(try store.count(Self.slow, DataStore.Run()).value == 0)
      #expect(try store.count(Query(), DataStore.Run()).value == 2_000)
      #expect(try store.saveMany([["kind": 1]]).entities.count == 1)
    }
  }

  @Test("that gave a cursor in time may be read after the deadline") func cursor() throws {
    var options = Options()
    options.timeout = 0.01
    try withStore { (store) throws in
      let cursor = try store.find(Query(), DataStore.Run(options)).value
      defer { cursor.close() }
      let deadline = Deadline.after(seconds: 0.01)
      while !deadline.hasPassed {}
      var count = 0
      while try cursor.next({ _ in }) != nil { count += 1 }
      #expect(count == 2_000)
    }
  }
}
