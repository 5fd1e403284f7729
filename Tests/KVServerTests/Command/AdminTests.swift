internal import KVJSON
internal import KVServerAdmin
internal import KVTestSupport
import Testing

/// The command line of `kvstored admin`.
@Suite("An administrator's command line")
struct AdminTests {
  @Test("is a command, its operands and options in any order")
  func order() throws {
    let lines = [
      ["users", "find", "ana", "--url", "http://h", "--json"],
      ["--url", "http://h", "users", "find", "--json", "ana"],
      ["users", "--json", "--url=http://h", "find", "ana"],
    ]
    for line in lines {
      let found = try arguments(line)
      #expect(found.command.words == ["users", "find"], "\(line)")
      #expect(found.operands == ["ana"], "\(line)")
      #expect(found["url"] == "http://h" && found["json"] == "true", "\(line)")
    }
  }

  @Test("may have operands that look like options after --")
  func dashes() throws {
    #expect(try arguments(["users", "find", "--", "--json"]).operands == ["--json"])
  }

  @Test(
    "is refused if it says too little or too much",
    arguments: [
      ["users", "sing"], ["users", "find"], ["users", "find", "a", "b"], ["users", "list", "--no"],
      ["users", "list", "--limit"], ["sing"], ["permissions", "set", "books"],
    ])
  func misuse(_ line: [String]) {
    #expect(throws: AdminFailure.self) { try AdminArguments.parse(line) }
  }

  @Test("asks for help on everything, a group or a command")
  func help() throws {
    for (line, expected) in [
      ([], "users password USER"), (["--help"], "Exit status"), (["users"], "users disable USER"),
      (["users", "add", "-h"], "usage: kvstored admin users add NAME"),
      (["users", "add", "--help"], "--password-file FILE"),
    ] {
      guard case .help(let text) = try AdminArguments.parse(line) else {
        Issue.record("no help for \(line)")
        continue
      }
      #expect(text.contains(expected), "\(line)")
    }
  }

  @Test("is described once: no command and no option of one has the name of another")
  func table() {
    let names = AdminCommand.all.map { $0.words.joined(separator: " ") }
    #expect(Set(names).count == names.count)
    for command in AdminCommand.all {
      let options = (command.options + AdminCommand.globalOptions).map(\.name)
      #expect(Set(options).count == options.count, "\(command.words)")
      #expect((1...2).contains(command.words.count))
    }
  }

  private func arguments(_ line: [String]) throws -> AdminArguments {
    guard case .run(let found) = try AdminArguments.parse(line) else {
      throw TestServer.Missing(what: "command in \(line)")
    }
    return found
  }
}
