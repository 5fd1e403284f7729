internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerPostgres

@Suite("Faults of PostgreSQL") struct PostgresFaultTests {
  private let storage: String
  private let ana: TestServer.Who
  private let server: TestServer
  private let path = "/appdata/kid/notes/a"

  init() throws {
    storage = try TestStorage.schema(for: Identifier.object())
    let storage = storage
    server = try TestServer { $0.storage = storage }
    ana = try server.user("ana")
  }

  @Test("Connections that were lost are replaced, and nobody is told")
  func lostConnections() throws {
    let database = try OwnDatabase()
    let server = try TestServer { $0.storage = database.address }
    let ana = try server.user("ana")
    for round in 0..<5 {
      #expect(try server.send(as: ana, "PUT", path, body: "{\"round\":\(round)}").status < 300)
      try database.endConnections()
      let answer = try server.send(as: ana, "GET", path).expect(200)
      #expect(answer.json["round"]?.intValue == Int64(round))
      try database.endConnections()
    }
  }

  @Test(
    "Work on the rows of a snapshot may take as long as a request, a write that holds locks ten seconds"
  )
  func idleTimes() throws {
    let database = PostgresDatabase(storage, connections: 1, isDurable: true)
    let limit: SQL =
      "SELECT extract(epoch FROM current_setting('idle_in_transaction_session_timeout')::interval)::int8"
    #expect(
      try database.snapshot { (connection) throws(PostgresError) in
        try connection.run(limit).int64(0, 0)
      } == 3600)
    #expect(
      try database.write { (connection) throws(PostgresError) in
        try connection.run(limit).int64(0, 0)
      } isCommitted: { (_) throws(PostgresError) in
        false
      } == 10)
  }

  private func writer() throws -> (AppWriter, app: Int64) {
    let database = PostgresDatabase(storage, connections: 4, isDurable: true)
    let app = try database.read("SELECT number FROM app").int64(0, 0)
    return (AppWriter(database, AppClocks(database)) {}, app)
  }

  private static let endConnection: SQL = "SELECT pg_terminate_backend(pg_backend_pid())"

  @Test("A commit whose answer is lost is found to have happened, and not repeated")
  func committed() throws {
    let (writer, app) = try writer()
    var runs = 0
    try writer.write(app: app) { (transaction, _) in
      runs += 1
      transaction.enqueue("INSERT INTO former_user (app, id) VALUES (\(bind: app), 'x')")
      transaction.enqueue("COMMIT")
      transaction.enqueue(Self.endConnection)
    }
    #expect(runs == 1)
    #expect(try count(writer) == 1)
  }

  @Test("A commit that is lost on its way is found not to have happened, and repeated")
  func notCommitted() throws {
    let (writer, app) = try writer()
    var runs = 0
    try writer.write(app: app) { (transaction, _) in
      runs += 1
      transaction.enqueue("INSERT INTO former_user (app, id) VALUES (\(bind: app), 'x')")
      if runs == 1 { transaction.enqueue(Self.endConnection) }
    }
    #expect(runs == 2)
    #expect(try count(writer) == 1)
  }

  private func count(_ writer: AppWriter) throws -> Int64 {
    try writer.database.read("SELECT count(*) FROM former_user").int64(0, 0)
  }

  @Test(
    "While there is no server, requests are answered 503 with Retry-After, and afterwards as before"
  )
  func outage() throws {
    let database = try OwnDatabase()
    let server = try TestServer { $0.storage = database.address }
    let ana = try server.user("ana")
    try server.send(as: ana, "PUT", path, body: "{}").expect(201)
    try database.allowConnections(false)
    try database.endConnections()
    for (method, body) in [("GET", nil), ("PUT", "{}"), ("DELETE", nil)] {
      let answer = try server.send(as: ana, method, path, body: body).expect(503)
      #expect(answer.headers["retry-after"] == "1")
    }
    try database.allowConnections(true)
    try server.send(as: ana, "GET", path).expect(200)
  }

  @Test("An answer that does not come is told in time, though nobody says that the network is gone")
  func silence() throws {
    let directory = try #require(storage.firstMatch(of: /host=([^&]*)/)).1
    let relay = try Relay(toSocket: directory + "/.s.PGSQL.5432")
    defer { relay.stop() }
    let there = storage.replacing(
      "host=\(directory)", with: "host=127.0.0.1&port=\(relay.port)")
    let database = PostgresDatabase(there, connections: 2, isDurable: true, silence: 5)
    #expect(try database.read("SELECT 1::int8").int64(0, 0) == 1)
    relay.silence()
    let failure = Monitor<PostgresError.Kind?>(nil)
    let reader = Worker("reader") {
      do throws(PostgresError) { _ = try database.read("SELECT 1::int8") } catch {
        failure.withLockNotifyingAll { $0 = error.kind }
      }
    }
    #expect(failure.wait(until: .after(seconds: 60)) { $0 } == .unreachable)
    relay.stop()
    reader?.join()
  }

  @Test("A statement that nobody waits for any more ends on the server as well")
  func abandoned() throws {
    let name = "x" + Identifier.object()
    let other = PostgresDatabase(storage, connections: 1, isDurable: true)
    let runs: SQL = """
      SELECT count(*) FROM pg_stat_activity
      WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE '%\(sql: name)%'
      """
    // Nobody wants the answer any more as soon as the statement runs.
    let budget = WorkBudget(until: .never) { (try? other.read(runs).int64(0, 0)) == 1 }
    let lock: SQL = "SELECT pg_advisory_lock(hashtext('\(sql: name)'))"
    let connection = try PostgresConnection(to: storage, setup: lock)
    do throws(PostgresError) {
      try connection.run("SELECT 1::int8 AS \(sql: name) FROM pg_sleep(3600)", within: budget)
      Issue.record("the statement came to its end")
    } catch { #expect(error.kind == .stopped) }
    // Its lock is to be had when it has ended, though somebody still holds its connection.
    _ = try PostgresConnection(to: storage, setup: lock)
    withExtendedLifetime(connection) {}
  }

  @Test("A connection whose transaction failed with its last statement is as good as before")
  func failedEnd() throws {
    let (writer, app) = try writer()
    let insertion: SQL = "INSERT INTO former_user (app, id) VALUES (\(bind: app), 'x')"
    for _ in 0..<2 {
      #expect(throws: ServerError.self) {
        try writer.write(app: app) { (transaction, _) in
          transaction.enqueue(insertion)
          transaction.enqueue(insertion)
        }
      }
    }
    try writer.write(app: app) { (transaction, _) in transaction.enqueue(insertion) }
    #expect(try count(writer) == 1)
  }

  @Test("Two transactions in each other's way are told apart from what cannot be done")
  func states() {
    #expect(PostgresError(state: "40P01", message: "").kind == .conflict)
    #expect(PostgresError(state: "57P01", message: "").kind == .unavailable)
    #expect(ServerError(PostgresError(state: "08006", message: "")).status == 503)
    #expect(ServerError(PostgresError(state: "53100", message: "")).status == 503)
  }
}

/// A database that one test has for itself.
private final class OwnDatabase {
  let address: String
  private let name = "own_" + Identifier.object()
  private let admin: PostgresConnection

  init() throws {
    let shared = try TestStorage.schema(for: "shared")
    admin = try PostgresConnection(to: shared, setup: "SELECT 1")
    try admin.run("CREATE DATABASE \(sql: name)")
    let server = String(shared.split(separator: "&")[0])
    address = server.replacing("/postgres?", with: "/\(name)?")
  }

  func allowConnections(_ isAllowed: Bool) throws {
    try admin.run(
      "ALTER DATABASE \(sql: name) ALLOW_CONNECTIONS \(sql: isAllowed ? "true" : "false")")
  }

  func endConnections() throws {
    try admin.run(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = convert_from(\(bind: name), 'UTF8')
      """)
  }
}
