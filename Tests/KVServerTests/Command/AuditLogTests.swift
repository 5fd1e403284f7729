internal import Glibc
internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerAdmin
@testable import KVServerCore

@Suite("The file of the audit log") struct AuditLogTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.file("audit.log") }

  private func text(of path: String) -> String {
    String(decoding: contents(of: path) ?? [], as: UTF8.self)
  }

  @Test("has one JSON object for each event")
  func line() {
    let event = AuditEvent(
      .deleteUser, by: "user:1", to: "a\n\"b", app: "kid", from: "10.0.0.1", outcome: .refused,
      requestId: "abc", at: Timestamp(milliseconds: 1000))
    #expect(
      event.line
        == """
        {"time":"1970-01-01T00:00:01.000Z","action":"user.delete","actor":"user:1",\
        "subject":"a\\n\\"b","app":"kid","address":"10.0.0.1","outcome":"refused",\
        "requestId":"abc"}

        """)
    // Nor do they move anything on the terminal of who reads the file, and the value is the same.
    let hostile = AuditEvent(
      .deleteUser, by: "user:1", to: "\u{85}\u{9B}31m\u{7F}\u{2028}\u{202E}é😀")
    #expect(hostile.line.contains(#""subject":"\u0085\u009b31m\u007f\u2028\u202eé😀""#))
    #expect((try? JSONValue(parsing: hostile.line))?["subject"]?.stringValue == hostile.subject)
    let least = AuditEvent(.startServer, by: nil, at: Timestamp(milliseconds: 0))
    #expect(least.line.contains(#""actor":null,"subject":null,"app":null,"address":null"#))
  }

  @Test("is made for its owner only, and is added to")
  func file() throws {
    for key in ["one", "two"] {
      let audit = try AuditLog(path, log: Log(.error))
      audit.add(AuditEvent(.addApp, by: "server", to: key))
    }
    #expect(permissions(of: path) == 0o600)
    let lines = text(of: path).split(separator: "\n")
    #expect(lines.count == 2 && lines[0].contains("one") && lines[1].contains("two"))
  }

  @Test("follows when it is renamed, and stays where it was if it cannot be opened again")
  func reopening() throws {
    let messages = Monitor("")
    let audit = try AuditLog(
      path, log: Log(.error) { line in messages.withLock { $0 += line } })
    audit.add(AuditEvent(.addApp, by: "server", to: "first"))
    rename(path, path + ".1")
    audit.add(AuditEvent(.addApp, by: "server", to: "second"))
    audit.reopen()
    audit.add(AuditEvent(.addApp, by: "server", to: "third"))
    #expect(text(of: path + ".1").contains("second"))
    #expect(text(of: path).contains("third") && !text(of: path).contains("second"))
    rename(path, path + ".2")
    symlink(directory.file("elsewhere"), path)
    audit.reopen()
    audit.add(AuditEvent(.addApp, by: "server", to: "fourth"))
    #expect(messages.withLock { $0 }.contains("symbolic link"))
    #expect(text(of: path + ".2").contains("fourth"))
    #expect(access(directory.file("elsewhere"), F_OK) != 0)
  }

  @Test(
    "is none that another user could have made: a link, a pipe, a file that all users can write")
  func foreign() {
    for (kind, expected) in [
      ("link", "symbolic link"), ("pipe", "cannot write"), ("directory", "cannot write"),
      ("0622", "written by all users"), ("0600", "none"),
    ] {
      TemporaryDirectory.remove(path)
      switch kind {
      case "link": symlink(directory.file("other"), path)
      case "pipe": mkfifo(path, 0o600)
      case "directory": mkdir(path, 0o700)
      default:
        write([], to: path)
        chmod(path, mode_t(kind, radix: 8) ?? 0)
      }
      do {
        _ = try AuditLog(path, log: Log(.error))
        #expect(expected == "none", "\(kind)")
      } catch {
        #expect(error.description.contains(expected), "\(kind): \(error)")
      }
    }
  }

  @Test("that cannot be written is said once in the log, and counted for each line")
  func fullDisk() {
    let messages = Monitor("")
    let audit = AuditLog(
      "audit.log", descriptor: open("/dev/full", O_WRONLY | O_CLOEXEC),
      log: Log(.error) { line in messages.withLock { $0 += line } })
    for _ in 0..<3 { audit.add(AuditEvent(.addApp, by: "server")) }
    #expect(audit.failures == 3)
    let text = messages.withLock { $0 }
    #expect(text.split(separator: "\n").count == 1 && text.contains("cannot write audit.log"))
  }

  @Test("is searched by time, actor, action, subject, app and outcome")
  func queries() throws {
    let audit = try AuditLog(path, log: Log(.error))
    let times = ["2026-01-01T10:00:00.500Z", "2026-01-02T10:00:00Z", "2026-01-03T10:00:00Z"]
    let events: [(AuditEvent.Action, String, String, AuditEvent.Outcome)] = [
      (.createUser, "app", "ana", .success), (.deleteUser, "master", "ana", .success),
      (.beginSession, "app", "eve", .refused),
    ]
    for (time, event) in zip(times, events) {
      audit.add(
        AuditEvent(
          event.0, by: event.1, to: event.2, app: "kid", outcome: event.3,
          at: try #require(Timestamp(time))))
    }
    for (options, expected) in [
      ([], ["user.create", "user.delete", "session.begin"]),
      (["--since", "2026-01-02"], ["user.delete", "session.begin"]),
      (["--since", "2026-01-01T10:00:00Z", "--until", "2026-01-02"], ["user.create"]),
      (["--until", "2026-01-02T10:00:00Z"], ["user.create"]),
      (["--actor", "master"], ["user.delete"]),
      (["--subject", "ana", "--actor", "app"], ["user.create"]),
      (["--action", "user"], ["user.create", "user.delete"]),
      (["--action", "user.delete"], ["user.delete"]), (["--action", "use"], []),
      (["--outcome", "refused"], ["session.begin"]), (["--app", "other"], []),
    ] {
      #expect(try found(options) == expected, "\(options)")
    }
    #expect(throws: AdminFailure.self) { try found(["--since", "yesterday"]) }
    #expect(throws: AdminFailure.self) { try found(["--since", "2026-01-02T10:00:00+02:00"]) }
    write(contents(of: path).map { $0 + Array("{\"time\":\"2026".utf8) } ?? [], to: path)
    do {
      _ = try found([])
      Issue.record("a torn line was not told")
    } catch {
      #expect((error as? AdminFailure)?.kind == .partly)
    }
  }

  /// The actions that `kvstored admin audit` shows.
  private func found(_ options: [String]) throws -> [String] {
    guard case .run(let arguments) = try AdminArguments.parse(["audit"] + options) else {
      return []
    }
    var bytes: [UInt8] = []
    try AuditCommand.run(
      path, arguments, to: AdminTerminal(isJSON: true, write: { bytes += $0 }, tell: { _ in }))
    return try bytes.split(separator: 0x0A).map {
      try JSONValue(parsing: Array($0))["action"]?.stringValue ?? ""
    }
  }
}
