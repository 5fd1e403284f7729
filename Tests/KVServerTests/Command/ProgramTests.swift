internal import Glibc
internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

@Suite("kvstored as a program") struct ProgramTests {
  private let directory = TemporaryDirectory()
  private var data: String { directory.file("data") }

  private func start(_ more: [String] = []) throws -> (program: Program, port: UInt16) {
    let program = try #require(
      Program(
        [
          "--data", data, "--listen", "127.0.0.1:0", "--app", "kid:sec:mas", "--password-cost", "1",
          "--access-log", "off",
        ] + more))
    return (program, try #require(program.port(), "\(program.output)"))
  }

  @Test("starts with nothing but a data directory, and makes an app that it keeps")
  func firstStart() throws {
    let arguments = ["--data", data, "--listen", "127.0.0.1:0"]
    let first = try #require(Program(arguments))
    let port = try #require(first.port())
    let key = try #require(first.rest(ofLine: "  app key        "))
    let stored = String(decoding: try #require(contents(of: data + "/app.json")), as: UTF8.self)
    let secrets = stored.split { $0 == ":" || $0 == "\"" }.suffix(3).prefix(2).map(String.init)
    #expect(secrets.count == 2 && secrets.allSatisfy { $0.utf8.count == 32 })
    #expect(HTTPClient(port: port)?.send("GET", "/healthz")?.status == 200)
    #expect(permissions(of: data) == 0o700)
    for file in ["app.json", "kvstored.db", "kvstored.lock"] {
      #expect(permissions(of: data + "/" + file) == 0o600, "\(file)")
    }
    first.send(signal: SIGTERM)
    #expect(first.waitForEnd() == 0)
    let second = try #require(Program(arguments))
    _ = try #require(second.port())
    #expect(second.output.contains("serves app \(key)"))
    // Standard output often ends in a journal.
    for secret in secrets {
      #expect(!first.output.contains(secret) && !second.output.contains(secret))
    }
  }

  @Test("says where it answers /metrics, whose port may be any")
  func metrics() throws {
    let (program, _) = try start(["--metrics", "127.0.0.1:0", "--metrics-host", "test"])
    let port = try #require(
      program.rest(ofLine: "kvstored answers /metrics on http://127.0.0.1:").flatMap { UInt16($0) })
    #expect(HTTPClient(port: port)?.send("GET", "/metrics")?.status == 200)
  }

  @Test("writes its port to a file, and its access log to standard output or a file")
  func files() throws {
    let (program, port) = try start([
      "--port-file", directory.file("port"), "--access-log", directory.file("access"),
    ])
    let (log, renamed) = (directory.file("access"), directory.file("access.1"))
    #expect(contents(of: directory.file("port")) == Array("\(port)\n".utf8))
    _ = HTTPClient(port: port)?.send("GET", "/healthz?secret=1")
    // A line is written when its answer has gone, not before.
    wait { contents(of: log)?.isEmpty == false }
    rename(log, renamed)
    program.send(signal: SIGHUP)
    wait { contents(of: log) != nil }
    _ = HTTPClient(port: port)?.send("GET", "/elsewhere")
    program.send(signal: SIGINT)
    #expect(program.waitForEnd() == 0)
    let (before, after) = (text(of: renamed), text(of: log))
    #expect(before.contains(" GET /healthz 200 15 ") && !before.contains("secret"))
    #expect(after.contains(" GET /elsewhere 404 ") && !after.contains("healthz"))
  }

  private func text(of path: String) -> String {
    String(decoding: contents(of: path) ?? [], as: UTF8.self)
  }

  /// Looks again and again until a condition holds, for ten seconds at the most.
  private func wait(_ condition: () -> Bool) {
    let deadline = Deadline.after(seconds: 60)
    while !condition(), !deadline.hasPassed { usleep(1000) }
  }

  @Test("ends with what running requests get, and leaves nothing behind in the log of the database")
  func gracefulEnd() throws {
    let (program, port) = try start()
    let client = try #require(HTTPClient(port: port))
    let headers = [("Authorization", "Basic a2lkOm1hcw==")]
    #expect(
      client.send("PUT", "/appdata/kid/c/x", headers: headers, body: Array("{}".utf8))?.status
        == 201)
    program.send(signal: SIGTERM)
    #expect(program.waitForEnd() == 0)
    #expect(contents(of: data + "/kvstored.db-wal")?.isEmpty != false)
    let (again, newPort) = try start()
    #expect(
      HTTPClient(port: newPort)?.send("GET", "/appdata/kid/c/x", headers: headers)?.status == 200)
    again.kill()
  }

  @Test("says what is wrong, and with which status")
  func misuse() throws {
    let help = try #require(Program(["--help"]))
    #expect(help.waitForEnd() == 0 && help.output.contains("usage: kvstored"))
    let version = try #require(Program(["--version"]))
    #expect(version.waitForEnd() == 0 && version.output == "kvstored \(Version.text)\n")
    let unknown = try #require(Program(["--frob"]))
    #expect(unknown.waitForEnd() == 2 && unknown.output.contains("unknown option --frob"))
    let (program, port) = try start()
    let second = try #require(Program(["--data", data]))
    #expect(second.waitForEnd() == 1 && second.output.contains("in use by another kvstored"))
    let taken = try #require(
      Program(["--data", directory.file("other"), "--listen", "127.0.0.1:\(port)"]))
    #expect(taken.waitForEnd() == 1 && taken.output.contains("Address already in use"))
    program.kill()
    let foreign = directory.file("foreign")
    mkdir(foreign, 0o700)
    KVTestSupport.write(
      Array("this is no database, but somebody's text".utf8), to: foreign + "/kvstored.db")
    let refused = try #require(Program(["--data", foreign, "--listen", "127.0.0.1:0"]))
    #expect(refused.waitForEnd() == 1 && refused.output.contains("kvstored.db"))
    #expect(contents(of: foreign + "/kvstored.db")?.count == 40)
  }

  @Test("has every acknowledged write after kill -9, and a sound database")
  func kills() throws {
    let rounds = getenv("KV_KILLS").flatMap { Int(String(cString: $0)) } ?? 12
    let acknowledged = Monitor([String: Int64]())
    var seed = Seed()
    for round in 0..<rounds {
      let (program, port) = try start()
      try check(acknowledged.withLock { $0 }, port: port, when: "\(seed), round \(round)")
      let writers = (0..<4).compactMap { thread in
        Worker("writer-\(thread)") {
          Self.load(thread, round, port: port, acknowledged: acknowledged)
        }
      }
      if round == rounds - 1 {
        _ = acknowledged.wait(until: .after(seconds: 60)) { $0.isEmpty ? nil : true }
      }
      usleep(UInt32.random(in: 1000...150_000, using: &seed))
      program.kill()
      for writer in writers { writer.join() }
    }
    let (program, port) = try start()
    try check(acknowledged.withLock { $0 }, port: port, when: "\(seed), at the end")
    program.kill()
    let database = try Database(
      SQLiteSchema.configuration(data + "/kvstored.db"),
      migrations: SQLiteSchema.migrations)
    let isSound = try database.withReader {
      (connection: borrowing Connection) throws(SQLiteError) in
      let check = try connection.prepare("PRAGMA integrity_check")
      return try check.step() && check.text(0) == "ok"
    }
    #expect(isSound, "\(seed)")
    #expect(acknowledged.withLock { $0.count } > 0)
  }

  /// Writes until the server is gone; notes what it said it has.
  private static func load(
    _ thread: Int, _ round: Int, port: UInt16, acknowledged: Monitor<[String: Int64]>
  ) {
    guard let client = HTTPClient(port: port) else { return }
    let headers = [("Authorization", "Basic a2lkOm1hcw==")]
    for number in 0... {
      let id = "\(thread)-\(number % 50)"
      let value = Int64(round * 1_000_000 + number)
      let answer = client.send(
        "PUT", "/appdata/kid/c/\(id)", headers: headers, body: Array("{\"v\":\(value)}".utf8))
      guard let answer, answer.status < 300 else { return }
      acknowledged.withLockNotifyingAll { $0[id] = value }
    }
  }

  private func check(_ acknowledged: [String: Int64], port: UInt16, when: String) throws {
    let client = try #require(HTTPClient(port: port))
    let answer = client.send(
      "GET", "/appdata/kid/c", headers: [("Authorization", "Basic a2lkOm1hcw==")])
    var stored: [String: Int64] = [:]
    for entity in answer?.json.arrayValue ?? [] {
      stored[entity["_id"]?.stringValue ?? ""] = entity["v"]?.intValue
    }
    for (id, value) in acknowledged {
      // A later write may be there too: it was not acknowledged any more.
      #expect(
        stored[id].map { $0 >= value } == true, "\(id) of \(value) is \(stored[id] ?? -1), \(when)")
    }
  }
}
