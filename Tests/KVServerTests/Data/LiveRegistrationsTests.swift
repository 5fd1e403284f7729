internal import KVSQLite
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

@Suite("Registrations for live data") struct LiveRegistrationsTests {
  private let directory = TemporaryDirectory()
  private let database: Database
  private let registrations: LiveRegistrations

  init() throws {
    database = try testDatabase(in: directory)
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      try connection.execute(
        "INSERT INTO session (token, app, user) VALUES ('\(SessionToken.hash("alive"))', 1, 'ana')")
    }
    registrations = LiveRegistrations(database)
  }

  @Test("made in a session that is no more are forgotten, others stay")
  func forgetEnded() throws {
    for (device, session) in [("a", "alive"), ("b", "ended")] {
      try registrations.register(device, of: "ana", app: 1, session: session, at: 5)
      try registrations.add(.init(app: 1, user: "ana", device: device, collection: "notes"))
    }
    // From before it was known in which session.
    for collection in ["", "notes"] {
      try registrations.add(.init(app: 1, user: "ana", device: "c", collection: collection))
    }
    try registrations.forgetEnded(at: 9)
    #expect(try registrations.all().map(\.device) == ["a", "a", "c", "c"])
    #expect(try registrations.all().map(\.seen) == [5, nil, 9, nil])
  }

  @Test("are found by their sessions")
  func bySession() throws {
    for device in ["a", "b"] {
      try registrations.register(device, of: "ana", app: 1, session: device, at: 5)
    }
    try registrations.add(.init(app: 1, user: "ana", device: "c", collection: ""))
    try registrations.register("d", of: "ben", app: 1, session: "a", at: 5)
    let devices = { (selection: SessionSubset) in
      try registrations.devices(of: "ana", app: 1, in: selection)
    }
    #expect(try devices(.one("a")) == ["a"])
    #expect(try devices(.allBut("a")) == ["b"])
    #expect(try devices(.allBut(nil)).sorted() == ["a", "b", "c"])
  }

  @Test("of devices that were not seen for long are forgotten with their subscriptions")
  func forgetOld() throws {
    for (device, seen) in [("a", 10), ("b", 20), ("c", 10)] {
      try registrations.register(device, of: "ana", app: 1, session: "s", at: Int64(seen))
      try registrations.add(.init(app: 1, user: "ana", device: device, collection: "notes"))
    }
    try registrations.recordActivity("c", of: "ana", app: 1, seen: 30)
    try registrations.forget(seenBefore: 20)
    #expect(try registrations.all().map(\.device) == ["b", "b", "c", "c"])
  }
}
