import Glibc
import KVBase
import KVJSON
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Data that was put back from a copy") struct RestoreTests {
  /// How an administrator makes a copy, and puts it back.
  enum Way: CaseIterable {
    /// `.backup` while the server runs; the copy takes the place of the file, or is written into it.
    case backup, backupWrittenInto
    /// The directory, while it does not run.
    case directory, directoryWrittenInto
    /// The original is put aside, the copy is used for a while: nothing in the files tells.
    case aside
  }

  private let directory = TemporaryDirectory()
  private let path = "/appdata/kid/notes"
  private var data: String { directory.file("data") }
  private var copy: String { directory.file("copy") }

  @Test("may have a clock that is behind: what is made of a version sent again is later than that")
  func clockBehind() throws {
    let server = try start()
    let ana = try server.user("ana")
    let path = "/appdata/kid/notes/a"
    let lost = Timestamp(milliseconds: Timestamp.now().milliseconds + 3_600_000)
    let sent = try server.send(
      as: ana, "PUT", path, body: #"{"_id":"a","n":1,"_kmd":{"resend":"\#(lost)"}}"#)
    #expect(sent.json["_kmd"]?["resent"]?.stringValue == lost.description)
    let changed = try server.send(as: ana, "PUT", path, body: sent.text)
    #expect(changed.json["_kmd"]?["resent"]?.stringValue == later(lost, by: 1))
    let again = try server.send(as: ana, "PUT", path, body: changed.text)
    #expect(again.json["_kmd"]?["resent"]?.stringValue == later(lost, by: 2))
    let past = #"{"_id":"a","n":2,"_kmd":{"resent":"2020-01-01T00:00:00.000Z"}}"#
    #expect(try server.send(as: ana, "PUT", path, body: past).json["_kmd"]?["resent"] == nil)
  }

  private func later(_ time: Timestamp, by milliseconds: Int64) -> String {
    Timestamp(milliseconds: time.milliseconds + milliseconds).description
  }

  @Test(
    "is noticed: no client is told what has changed since a moment of what was lost",
    arguments: Way.allCases)
  func restored(way: Way) throws {
    var server: TestServer? = try start()
    let ana = try #require(try server?.user("ana"))
    let first = try #require(try save("a", on: server, as: ana))
    switch way {
    case .backup, .backupWrittenInto:
      mkdir(copy, 0o700)
      #expect(backUp(database: data + "/kvstored.db", to: copy + "/kvstored.db"))
    case .directory, .directoryWrittenInto:
      server = nil
      copyFiles(of: data, to: copy)
      server = try start()
    case .aside:
      server = nil
      rename(data, copy)
      copyFiles(of: copy, to: data)
      server = try start()
    }
    let lost = try #require(try save("b", on: server, as: ana))
    server?.server.stop()
    server = nil
    putBack(way)
    let again = try start()
    let now = try #require(try save("c", on: again, as: ana))
    // What was told before the copy was made is still true of the original itself.
    #expect(try delta(first, on: again, as: ana) == (way == .aside ? 200 : 400))
    #expect(try delta(lost, on: again, as: ana) == 400)
    #expect(try delta(now, on: again, as: ana) == 200)
    #expect(now.epoch != lost.epoch)
    guard way != .aside else { return }
    // What the copy has was written until then, and what it lacks later.
    let restored = try #require(now.restored)
    #expect(restored >= first.newest && restored < lost.newest)
    #expect(lost.restored == nil)
    #expect(now.newest > lost.newest)
  }

  @Test("dates what is written later than what was lost, also after several crashes")
  func laterThanWhatWasLost() throws {
    var server: TestServer? = try start()
    let ana = try #require(try server?.user("ana"))
    mkdir(copy, 0o700)
    #expect(backUp(database: data + "/kvstored.db", to: copy + "/kvstored.db"))
    server = nil
    var lost: Moment?
    for _ in 0..<4 {
      let program = try #require(
        Program(["--data", data, "--app", "kid:sec:mas", "--listen", "127.0.0.1:0"]))
      let port = try #require(program.port())
      let client = try #require(HTTPClient(port: port))
      let headers = [("Authorization", ana.authorization ?? "")]
      _ = client.send("PUT", path + "/x", headers: headers, body: Array("{}".utf8))
      lost = client.send("GET", path, headers: headers).flatMap(Moment.init)
      program.kill()
    }
    putBack(.backup)
    let now = try #require(try save("c", on: try start(), as: ana))
    #expect(now.newest > (try #require(lost)).newest)
  }

  @Test("is what the administrator says is one") func stated() throws {
    var server: TestServer? = try start()
    let ana = try #require(try server?.user("ana"))
    let before = try #require(try save("a", on: server, as: ana))
    server = nil
    let again = try start { $0.isRestored = true }
    let after = try #require(try save("b", on: again, as: ana))
    #expect(after.epoch != before.epoch)
    #expect(try delta(before, on: again, as: ana) == 400)
  }

  @Test("is not what was only closed, or ended by force, and started again") func same() throws {
    var server: TestServer? = try start()
    let ana = try #require(try server?.user("ana"))
    let first = try #require(try save("a", on: server, as: ana))
    for _ in 0..<3 {
      server = nil
      server = try start()
      let next = try #require(try save("b", on: server, as: ana))
      #expect(next.epoch == first.epoch)
      #expect(try delta(first, on: server, as: ana) == 200)
    }
    server = nil
    var moment: Moment?
    for _ in 0..<3 {
      let program = try #require(
        Program([
          "--data", data, "--app", "kid:sec:mas", "--listen", "127.0.0.1:0", "--delta-days", "5",
        ]))
      let port = try #require(program.port())
      let client = try #require(HTTPClient(port: port))
      let headers = [("Authorization", ana.authorization ?? "")]
      if let moment {
        let answer = client.send("GET", target(moment), headers: headers)
        #expect(answer?.status == 200)
      }
      _ = client.send("PUT", path + "/x", headers: headers, body: Array("{}".utf8))
      moment = client.send("GET", path, headers: headers).flatMap(Moment.init)
      #expect(moment?.epoch == first.epoch)
      program.kill()
    }
  }

  @Test("is named in the answers to writes as in those to reads") func writes() throws {
    let server = try start()
    let ana = try server.user("ana")
    let epoch = try #require(try save("a", on: server, as: ana)).epoch
    let writes: [(method: String, target: String, body: String?)] = [
      ("POST", path, #"{"_id":"b"}"#), ("POST", path, #"[{"_id":"c"},{"_id":"d"}]"#),
      ("PUT", path + "/b", "{}"), ("DELETE", path + "/b", nil),
      ("POST", path + "/_batch", #"[{"method":"PUT","id":"e","entity":{}}]"#),
    ]
    for write in writes {
      let answer = try server.send(as: ana, write.method, write.target, body: write.body)
      #expect((200..<300).contains(answer.status), "\(write)")
      #expect(answer.headers["x-kvstored-data-epoch"] == epoch, "\(write)")
    }
  }

  // MARK: Parts

  private struct Moment {
    var start: String
    var epoch: String
    var restored: String?
    /// The latest version that the answer has.
    var newest: String

    init?(_ answer: HTTPAnswer) {
      guard let start = answer.headers["x-kinvey-request-start"],
        let epoch = answer.headers["x-kvstored-data-epoch"]
      else { return nil }
      (self.start, self.epoch) = (start, epoch)
      restored = answer.headers["x-kvstored-data-restored"]
      let entities = (try? JSONValue(parsing: answer.body))?.arrayValue ?? []
      newest = entities.compactMap { $0["_kmd"]?["lmt"]?.stringValue }.max() ?? ""
    }
  }

  private func start(
    _ more: (inout Server.Configuration) -> Void = { _ in }
  ) throws -> TestServer {
    try TestServer(in: directory) {
      $0.storage = nil
      $0.historyDays = 5
      more(&$0)
    }
  }

  /// Gives the moment of a read after it.
  private func save(_ id: String, on server: TestServer?, as who: TestServer.Who) throws -> Moment?
  {
    _ = try server?.send(as: who, "PUT", path + "/" + id, body: "{}")
    return try server.flatMap { Moment(try $0.send(as: who, "GET", path)) }
  }

  private func delta(_ moment: Moment, on server: TestServer?, as who: TestServer.Who) throws
    -> Int?
  {
    try server?.send(as: who, "GET", target(moment)).status
  }

  private func target(_ moment: Moment) -> String {
    KVServerTests.target(path + "/_deltaset", [("since", moment.start)])
  }

  private func putBack(_ way: Way) {
    switch way {
    case .backup:
      for name in ["kvstored.db", "kvstored.db-wal", "kvstored.db-shm"] {
        unlink("\(data)/\(name)")
      }
      rename(copy + "/kvstored.db", data + "/kvstored.db")
    case .backupWrittenInto, .directoryWrittenInto:
      for name in ["kvstored.db-wal", "kvstored.db-shm"] { unlink("\(data)/\(name)") }
      copyFiles(of: copy, to: data)
    case .directory:
      TemporaryDirectory.remove(data)
      copyFiles(of: copy, to: data)
    case .aside:
      TemporaryDirectory.remove(data)
      rename(copy, data)
    }
  }
}
