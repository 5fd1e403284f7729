internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("The command line") struct ArgumentsTests {
  @Test("needs nothing but the data directory")
  func minimal() throws {
    let configuration = try configure(["--data", "d"])
    #expect(configuration.data == "d")
    #expect(configuration.listen.description == "127.0.0.1:8778")
    #expect(configuration.apps.isEmpty && configuration.isDurable)
    #expect(configuration.accessLog == "-")
  }

  @Test("takes every option, with a space or an equals sign")
  func options() throws {
    let configuration = try configure([
      "--data=d", "--listen", "[::1]:0", "--app", "a:b", "--app=c:d:e", "--permit", "read=acl",
      "--access-log", "off", "--log-level=debug", "--tls-cert", "c.pem", "--tls-key", "k.pem",
      "--durability", "normal", "--session-days", "30", "--password-cost", "3", "--max-body",
      "4096", "--request-seconds", "7", "--response-seconds", "8", "--max-connections", "9",
      "--max-connections-per-address", "2", "--event-threads", "3", "--workers", "4",
      "--cache-mib", "5", "--trusted-proxy", "10.0.0.1", "--trusted-proxy=::1", "--lookup",
      "username,email",
    ])
    #expect(configuration.listen == .init(host: "::1", port: 0))
    #expect(
      configuration.apps == [
        .init(key: "a", secret: "b"), .init(key: "c", secret: "d", masterSecret: "e"),
      ])
    #expect(configuration.permissions.read == .acl)
    #expect(configuration.accessLog == nil && configuration.logLevel == .debug)
    #expect(configuration.tls == .init(certificate: "c.pem", key: "k.pem"))
    #expect(!configuration.isDurable && configuration.sessionDays == 30)
    #expect(configuration.passwordCost == 3 && configuration.limits.bodyBytes == 4096)
    #expect(configuration.limits.requestSeconds == 7 && configuration.limits.responseSeconds == 8)
    #expect(configuration.limits.connections == 9)
    #expect(configuration.limits.connectionsPerAddress == 2)
    #expect(configuration.eventThreads == 3 && configuration.workers == 4)
    #expect(configuration.cacheMiB == 5)
    #expect(configuration.proxies.map(\.description) == ["10.0.0.1", "::1"])
    #expect(configuration.discovery.searchable == ["username", "email"])
  }

  @Test("asks for help and for the version")
  func requests() throws {
    if case .help = try Arguments.parse(["--data", "d", "--help"]) {
    } else {
      Issue.record("no help")
    }
    if case .version = try Arguments.parse(["--version"]) {} else { Issue.record("no version") }
    for setting in Setting.all { #expect(Help.text.contains("--\(setting.name)")) }
  }

  @Test(
    "is refused with a reason",
    arguments: [
      ([], "--data DIR is missing"), (["x"], "unexpected argument x"),
      (["--frob"], "unknown option --frob"), (["--data"], "--data needs a value: DIR"),
      (["--data", "d", "--listen", "here"], "--listen needs ADDR:PORT"),
      (
        ["--data", "d", "--trusted-proxy", "10.0.0.1:80"], "--trusted-proxy needs a numeric address"
      ),
      (["--data", "d", "--lookup", "age"], "--lookup needs off, or some of _id"),
      (["--data", "d", "--lookup", ""], "--lookup needs off, or some of _id"),
      (["--data", "d", "--app", "justkey"], "--app needs KID:SECRET"),
      (["--data", "d", "--app", "a::b"], "--app needs KID:SECRET"),
      (["--data", "d", "--app", "a:b", "--app", "a:c"], "an app key occurs twice"),
      (["--data", "d", "--workers", "0"], "--workers needs a number from 1 to 1024"),
      (["--data", "d", "--workers", "many"], "--workers needs a number"),
      (["--data", "d", "--permit", "read"], "--permit needs OPERATION=RULE"),
      (["--data", "d", "--permit", "create=acl"], "--permit needs OPERATION=RULE"),
      (["--data", "d", "--durability", "high"], "--durability needs full or normal"),
      (["--data", "d", "--log-level", "loud"], "--log-level needs"),
      (["--data", "d", "--tls-key", "k"], "--tls-cert and --tls-key go together"),
      (["--data", "d", "--config", "/nonexistent/file"], "cannot read /nonexistent/file"),
    ])
  func misuse(arguments: [String], reason: String) {
    do {
      _ = try configure(arguments)
      Issue.record("accepted \(arguments)")
    } catch {
      #expect("\(error)".hasPrefix(reason))
    }
  }
}

@Suite("The configuration file") struct ConfigurationFileTests {
  @Test("says what the command line can say, arrays for what is repeated")
  func options() throws {
    let options = try ConfigurationFile.options(
      in: #"{"data":"d","workers":3,"app":["a:b","c:d:e"],"access-log":"off"}"#)
    #expect(options["data"] == "d" && options["workers"] == "3")
    #expect(options.all.filter { $0.name == "app" }.map(\.value) == ["a:b", "c:d:e"])
  }

  @Test(
    "is refused with a reason",
    arguments: [
      ("[1]", "the configuration must be a JSON object"), (#"{"frob":1}"#, "unknown option"),
      (#"{"config":"x"}"#, "unknown option"), (#"{"data":{}}"#, "\"data\" must be"),
    ])
  func misuse(text: String, reason: String) {
    do {
      _ = try ConfigurationFile.options(in: text)
      Issue.record("accepted \(text)")
    } catch {
      #expect(error.description.hasPrefix(reason))
    }
  }

  @Test("gives way to the command line")
  func precedence() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("kvstored.json")
    write(Array(#"{"data":"d","workers":3,"app":"a:b","listen":"[::1]:1"}"#.utf8), to: path)
    let configuration = try configure(["--config", path, "--workers", "4", "--app", "c:d"])
    #expect(configuration.data == "d" && configuration.workers == 4)
    #expect(configuration.apps == [.init(key: "c", secret: "d")])
    #expect(configuration.listen.host == "::1")
  }
}

private func configure(_ arguments: [String]) throws -> Server.Configuration {
  guard case .run(let options) = try Arguments.parse(arguments) else {
    return Server.Configuration(data: "")
  }
  return try Server.Configuration(options)
}
