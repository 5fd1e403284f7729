import KVBase
import KVJSON
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("Guessing") struct GuessingTests {
  private let time = Monitor<Int64>(1_000_000)
  private let strong = Server.Configuration.App(
    key: "big", secret: "0123456789abcdef0123456789abcdef",
    masterSecret: "fedcba9876543210fedcba9876543210")

  private func server(_ configure: (inout Server.Configuration) -> Void = { _ in }) throws
    -> TestServer
  {
    let (time, strong) = (time, strong)
    return try TestServer {
      $0.loginClock = { time.withLock { $0 } * 1_000_000_000 }
      $0.apps.append(strong)
      configure(&$0)
    }
  }

  private func basic(_ key: String, _ secret: String) -> TestServer.Who {
    .header("Basic " + Base64.encode("\(key):\(secret)"))
  }

  @Test(
    "of secrets is answered 429 after some failures, whatever is asked for, and goes on later",
    arguments: ["/appdata/kid", "/appdata/kid/notes/1", "/metrics", "/user/kid/_me"])
  func throttled(path: String) throws {
    let server = try server()
    var statuses: [Int] = []
    for number in 0..<30 {
      statuses.append(
        try server.send(as: basic("kid", "guess \(number)"), "GET", path).status)
    }
    #expect(statuses.prefix(20).allSatisfy { $0 == 401 } && statuses.contains(429), "\(statuses)")
    let refused = try server.send(as: .master, "GET", "/appdata/kid")
    #expect(refused.status == 429 && refused.error == "TooManyRequests")
    #expect(refused.headers["retry-after"] != nil)
    // A secret that cannot be guessed is taken at any time, and wrong ones are not looked at.
    try server.send(as: basic("big", strong.secret), "GET", "/appdata/big").expect(200)
    try server.send(as: basic("big", "x"), "GET", "/appdata/big").expect(429)
    time.withLock { $0 += 3600 }
    try server.send(as: .master, "GET", "/appdata/kid").expect(200)
  }

  @Test("of bodies' credentials counts as well")
  func bodies() throws {
    let server = try server()
    for _ in 0..<30 {
      _ = try server.send(as: basic("kid", "x"), "POST", "/user/kid/login", body: "{}")
    }
    try server.send(as: .app, "POST", "/user/kid/login", body: "{}").expect(429)
  }

  @Test("is possible with secrets of less than 128 bits")
  func strength() {
    for weak in [
      "sec", "secret", "mysecret", "0123456789abcdef", String(repeating: "a", count: 100),
      "abcabcabcabcabcabcabcabcabcabcabc", "0123456789abcdef0123456789abcde",
    ] {
      #expect(AppCredentials(key: "k", secret: weak).isGuessable, "\(weak)")
      #expect(
        AppCredentials(key: "k", secret: strong.secret, masterSecret: weak).isGuessable, "\(weak)")
    }
    for good in [hexText(randomBytes(16)), "q8Vz2LmT7xKp4Wd9RsYb3Nfh", "X5b-9w_2Lq!7mZ0pR4tVc1"] {
      #expect(!AppCredentials(key: "k", secret: good).isGuessable, "\(good)")
    }
  }

  @Test("is not risked where other machines can connect, unless the operator says so")
  func addresses() throws {
    var configuration = Server.Configuration(data: "")
    configuration.apps = [.init(key: "kid", secret: "sec")]
    let log = Log(.error)
    for host in ["127.0.0.1", "127.9.9.9", "::1", "localhost"] {
      configuration.listen = ListenAddress(host: host, port: 1)
      try configuration.checkSecrets(log: log)
    }
    for host in ["0.0.0.0", "", "::", "10.0.0.1", "db.example"] {
      configuration.listen = ListenAddress(host: host, port: 1)
      #expect(throws: Server.Failure.self) { try configuration.checkSecrets(log: log) }
    }
    configuration.listen = ListenAddress(host: "127.0.0.1", port: 1)
    configuration.proxies = [IPAddress("127.0.0.1")].compactMap { $0 }
    #expect(throws: Server.Failure.self) { try configuration.checkSecrets(log: log) }
    configuration.allowsInsecureSecrets = true
    try configuration.checkSecrets(log: log)
    configuration.allowsInsecureSecrets = false
    configuration.apps = [strong]
    try configuration.checkSecrets(log: log)
    configuration.apps = [.init(key: "kid", secret: strong.secret, masterSecret: strong.secret)]
    #expect(throws: Arguments.Misuse.self) { try configuration.checkApps() }
  }

  @Test("of passwords is made harder by their length")
  func length() throws {
    let server = try server { $0.passwordLength = 8 }
    for (password, status) in [
      ("1234567", 400), ("12345678", 201), ("\u{e9}\u{e9}\u{e9}\u{e9}", 400),
    ] {
      let answer = try server.send(
        as: .app, "POST", "/user/kid",
        body: "{\"username\":\"u\(password)\",\"password\":\"\(password)\"}")
      #expect(answer.status == status, "\(password) \(answer.text)")
    }
    let ana = try server.user("ana", password: "a password")
    for target in ["/user/kid/\(ana.id)", "/user/kid/\(ana.id)/_password"] {
      let answer = try server.send(as: .master, "PUT", target, body: #"{"password":"short"}"#)
      #expect(answer.error == "InputValidationFailed", "\(target)")
    }
    // Without a password the server makes one.
    try server.send(as: .app, "POST", "/user/kid", body: "{}").expect(201)
  }

  @Test("is no way to change a password: the old one is asked for, of users, and never stored")
  func oldPassword() throws {
    let server = try server { $0.asksOldPassword = true }
    let ana = try server.user("ana")
    let target = "/user/kid/\(ana.id)"
    func change(_ old: String?) throws -> HTTPAnswer {
      let old = old.map { ",\"oldPassword\":\"\($0)\"" } ?? ""
      return try server.send(as: ana, "PUT", target, body: "{\"password\":\"new\"\(old)}")
    }
    #expect(try change(nil).error == "InsufficientCredentials")
    for _ in 0..<5 { #expect(try change("wrong").status == 401) }
    #expect(try change("pass").status == 429)
    time.withLock { $0 += 3600 }
    let changed = try change("pass").expect(200)
    #expect(!changed.text.contains("pass"))
    #expect(try !server.send(as: .master, "GET", target).text.contains("oldPassword"))
    let login = #"{"username":"ana","password":"new"}"#
    try server.send(as: .app, "POST", "/user/kid/login", body: login).expect(200)
    // Other members, and the administrator, need none.
    try server.send(as: ana, "PUT", target, body: #"{"nickname":"A"}"#).expect(200)
    try server.send(as: .master, "PUT", target, body: #"{"password":"newer"}"#).expect(200)
  }
}
