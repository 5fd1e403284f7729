import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// Readers who pull changes only, and an administrator who changes everything that decides what they may see:
/// entities, their access lists and creators, the collection's rule.
@Suite("After a pull of changes a reader has what a full read gives") struct DeltaConvergenceTests {
  private static let filters = [
    "{}", #"{"open":true}"#, #"{"n":{"$lt":5}}"#, #"{"_id":{"$in":["e0","e1","e2","e3"]}}"#,
  ]

  private struct Reader {
    var client: Client
    var id: String
    /// Pulls changes.
    var store: DataStore
    /// Asks the server for everything.
    var network: DataStore
  }

  @Test(
    "whatever was changed, closed, opened, deleted and made again, or put back from a copy",
    arguments: [false, true])
  func converges(paged: Bool) throws {
    var random = Seed()
    let world = try World(historyDays: 15)
    let administrator = try world.administrator()
    let readers = try ["ana", "bob", "cy"].map { try reader($0, world) }
    defer { (readers.map(\.client) + [administrator]).forEach { $0.close() } }
    let writer = try administrator.store("notes", type: "network", nil)
    let note = "\(random), paged: \(paged)"
    try world.copy()
    for step in 0..<400 {
      switch random.next() % 20 {
      case 0:
        switch random.next() % 6 {
        case 0: try world.copy()
        case 1: try world.putBack(intoTheSameFiles: random.next() % 2 == 0)
        default: try change(rule: &random, world)
        }
      case 1..<5: try remove(&random, writer)
      case 5..<14: try save(&random, for: readers, by: writer)
      default:
        let reader = readers[Int(random.next() % UInt64(readers.count))]
        let filter = Self.filters[Int(random.next() % UInt64(Self.filters.count))]
        try check(reader, filter: filter, paged: paged, note: "\(note), step \(step)")
      }
    }
    for reader in readers {
      for filter in Self.filters {
        try check(reader, filter: filter, paged: paged, note: "\(note), end")
      }
    }
  }

  // MARK: What happens

  private func change(rule random: inout Seed, _ world: World) throws {
    let rules = ["always", "creator", "acl", "shared", "never"]
    let rule = rules[Int(random.next() % UInt64(rules.count))]
    try world.administer(
      "PUT", "/appdata/kid_test/notes/_permissions", body: ["read": .string(rule)])
  }

  private func remove(_ random: inout Seed, _ writer: DataStore) throws {
    if random.next() % 4 == 0 {
      let some = try Query(filter: #"{"n":\#(random.next() % 10)}"#)
      _ = try writer.remove(some, DataStore.Run())
    } else {
      let one = try Query(filter: #"{"_id":"\#(id(&random))"}"#)
      _ = try writer.remove(one, DataStore.Run())
    }
  }

  private func save(_ random: inout Seed, for readers: [Reader], by writer: DataStore) throws {
    var acl: JSONObject = [:]
    let (owner, friend) = (random.next() % 3, random.next() % 3)
    acl["creator"] = .string(readers[Int(owner)].id)
    if random.next() % 3 > 0 { acl["gr"] = .bool(random.next() % 2 == 0) }
    if random.next() % 8 == 0 { acl["gw"] = true }
    if random.next() % 3 == 0 { acl["r"] = [.string(readers[Int(friend)].id)] }
    if random.next() % 8 == 0 { acl["w"] = [.string(readers[Int(friend)].id)] }
    var entity: JSONObject = [
      "_id": .string(id(&random)), "open": .bool(random.next() % 2 == 0),
      "n": .int(Int64(random.next() % 10)),
    ]
    // Without one the access list stays as it is.
    if random.next() % 4 > 0 { entity["_acl"] = .object(acl) }
    _ = try writer.save(.object(entity))
  }

  private func id(_ random: inout Seed) -> String { "e\(random.next() % 12)" }

  // MARK: What must be

  private func check(_ reader: Reader, filter: String, paged: Bool, note: String) throws {
    var options = Options()
    options.deltaSet = true
    if paged {
      options.autoPagination = true
      options.maxSizePerResultSet = 3
    }
    let query = try Query(filter: filter)
    let refusal = failure { _ = try reader.store.pull(query, DataStore.Run(options)) }
    if let refusal {
      // The rule lets nobody in: there is nothing to compare with.
      #expect(failure { _ = try reader.network.all(query) }?.kind == refusal.kind, "\(note)")
      return
    }
    let (here, there) = (try reader.store.all(query), try reader.network.all(query))
    #expect(sorted(here) == sorted(there), "\(note), \(filter)")
  }

  private func sorted(_ entities: [JSONValue]) -> [String] { entities.map(\.text).sorted() }

  private func reader(_ name: String, _ world: World) throws -> Reader {
    // What the server has lost is to go here, too.
    let client = try world.member(name, ["onBackendReset": "accept"])
    let id = try JSONValue(parsing: client.activeUser())["_id"]?.stringValue
    return Reader(
      client: client, id: try #require(id), store: try client.store("notes", type: "sync", nil),
      network: try client.store("notes", type: "network", nil))
  }
}
