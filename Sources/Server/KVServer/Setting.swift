internal import KVServerCore
internal import KVServerHTTP
internal import KVServerLogic
internal import KVServerOpenID
internal import KVServerPostgres

/// One thing that can be set, on the command line as `--name value` and in a configuration file as
/// `"name": value`.
struct Setting: Sendable {
  let name: String
  /// What the value looks like; empty for a switch.
  let placeholder: String
  let help: String
  /// Puts the value into the configuration; throws what is wrong with it.
  let apply: @Sendable (inout Server.Configuration, String) throws(Arguments.Misuse) -> Void

  var isFlag: Bool { placeholder.isEmpty }

  static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

  /// All settings, in the order in which `--help` shows them.
  static let all: [Setting] = [
    Setting(
      "data", "DIR", help: "directory of all data, created if missing (required without --storage)"
    ) {
      $0.data = $1
    },
    Setting("config", "FILE", help: "JSON object with any of these options; the command line wins")
    {
      _, _ in
    },
    Setting(
      "listen", "ADDR:PORT", help: "where to listen; port 0 means any free port [127.0.0.1:8778]"
    ) {
      configuration, text throws(Arguments.Misuse) in
      guard let address = ListenAddress(text) else {
        throw misuse("listen", "needs ADDR:PORT, such as 127.0.0.1:8778 or [::1]:0")
      }
      configuration.listen = address
    },
    Setting("storage", "sqlite|URI", help: storageHelp) {
      configuration, text throws(Arguments.Misuse) in
      guard text == "sqlite" || PostgresStore.isAddress(text) else {
        throw misuse("storage", "needs sqlite, or the address of a database: postgres://…")
      }
      configuration.storage = text == "sqlite" ? nil : text
    },
    Setting("app", "KID:SECRET[:MASTER]", help: "an app to serve; may be repeated") {
      configuration, text throws(Arguments.Misuse) in
      configuration.apps.append(try AppCredentials.read(text))
    },
    Setting("permit", "OPERATION=RULE", help: permitHelp) {
      configuration, text throws(Arguments.Misuse) in
      try permit(text, &configuration.permissions)
    },
    .number(
      "delta-days", 1...30,
      help: "days to keep deletions, for clients that request changes [off]"
    ) {
      $0.historyDays = $1
    },
    .flag(
      "auto-index",
      help: "make indexes that queries need again and again, and drop them when they do not"
    ) {
      $0.makesIndexes = $1
    },
    .flag("restored", help: "the data was restored from a copy: clients read everything again") {
      $0.isRestored = $1
    },
    Setting("port-file", "FILE", help: "write the port to a file once the server listens") { _, _ in
    },
    Setting(
      "access-log", "FILE",
      help: "file with one line for each request; -: standard output; off: none [-]"
    ) {
      $0.accessLog = $1 == "off" ? nil : $1
    },
    Setting("access-log-format", "text|json", help: "format of the access log [text]") {
      configuration, text throws(Arguments.Misuse) in
      guard let format = AccessLog.Format(rawValue: text) else {
        throw misuse("access-log-format", "needs text or json")
      }
      configuration.accessLogFormat = format
    },
    Setting(
      "audit-log", "FILE",
      help: "file that gets a JSON line for each change of accounts, rights and settings [none]"
    ) {
      $0.auditLog = $1
    },
    Setting(
      "metrics", "ADDR:PORT",
      help: "address for /metrics without credentials; elsewhere it needs the master secret"
    ) {
      configuration, text throws(Arguments.Misuse) in
      guard let address = ListenAddress(text) else {
        throw misuse("metrics", "needs ADDR:PORT, such as 127.0.0.1:9778")
      }
      configuration.metrics = address
    },
    Setting(
      "metrics-host", "NAME",
      help: "a name under which that address may be asked; may be repeated [addresses, localhost]"
    ) { $0.metricsHosts.append($1) },
    Setting("log-level", "LEVEL", help: "error, warning, info or debug, on standard error [info]") {
      configuration, text throws(Arguments.Misuse) in
      guard let level = Log.Level(rawValue: text) else {
        throw misuse("log-level", "needs error, warning, info or debug")
      }
      configuration.logLevel = level
    },
    .tls("tls-cert", "FILE", help: "certificate chain as PEM; needs --tls-key") {
      $0.certificate = $1
    },
    .tls("tls-key", "FILE", help: "key of the certificate as PEM") { $0.key = $1 },
    .tls("tls-minimum", "1.2|1.3", help: "the least version of TLS [1.2]") {
      tls, text throws(Arguments.Misuse) in
      guard let version = TLSRules.Version(rawValue: text) else {
        throw misuse("tls-minimum", "needs 1.2 or 1.3")
      }
      tls.minimum = version
    },
    .tls(
      "tls-ciphers", "PRIORITY",
      help: "what TLS may use, as GnuTLS writes it [AEAD with forward secrecy]"
    ) { $0.ciphers = $1 },
    .tls("tls-client-ca", "FILE", help: "PEM: only clients with certificates of these authorities")
    {
      $0.clientAuthorities = $1
    },
    Setting(
      "encryption-key-file", "FILE",
      help: "the key that the data of --data is encrypted with: 64 hex digits, or Base64 [none]"
    ) { $0.encryptionKeyFile = $1 },
    Setting("durability", "full|normal", help: "whether a write waits for the disk [full]") {
      configuration, text throws(Arguments.Misuse) in
      guard text == "full" || text == "normal" else {
        throw misuse("durability", "needs full or normal")
      }
      configuration.isDurable = text == "full"
    },
    .number("session-days", 1...36_500, help: "days after which sessions end [180]") {
      $0.sessionDays = $1
    },
    .number(
      "session-idle-days", 1...36_500, help: "days without a request after which they end [30]"
    ) { $0.sessionIdleDays = $1 },
    Setting("signup", "[KID=]RULE", help: "who signs up: open, invite or closed [open]") {
      configuration, text throws(Arguments.Misuse) in
      let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let rule = sides.last.flatMap({ SignUpRules.Rule(rawValue: String($0)) }) else {
        throw misuse("signup", "needs open, invite or closed, for one app: KID=RULE")
      }
      configuration.signUp.set(rule, for: sides.count == 2 ? String(sides[0]) : nil)
    },
    .number("password-cost", 1...11, help: "yescrypt's cost; each step doubles time and memory [5]")
    {
      $0.passwordCost = $1
    },
    .number("password-length", 1...128, help: "least characters of a new password [8]") {
      $0.passwordLength = $1
    },
    .flag(
      "change-password-by-session",
      help: "let users change their password without the old one, as original SDKs do"
    ) {
      $0.asksOldPassword = !$1
    },
    .flag(
      "insecure-secrets",
      help: "accept secrets below 128 bits also where other machines can connect"
    ) {
      $0.allowsInsecureSecrets = $1
    },
    .number(
      "signups-per-hour", 0...1_000_000,
      help:
        "sign-ups from one address within an hour, of an app 100 times as many; 0: no limit [1000]"
    ) {
      $0.useLimits.signUpsPerHour = $1
    },
    .number(
      "max-sessions", 0...1_000_000, help: "sessions of one user; 0: no limit [1000]"
    ) {
      $0.useLimits.sessionsPerUser = $1
    },
    .number(
      "max-collections", 0...1_000_000, help: "collections that users make; 0: no limit [10000]"
    ) {
      $0.useLimits.collections = $1
    },
    .number(
      "collections-per-hour", 0...1_000_000,
      help: "collections that one user makes within an hour; 0: no limit [1000]"
    ) {
      $0.useLimits.collectionsPerHour = $1
    },
    .number("max-body", 1024...(1 << 30), help: "largest request body in bytes [16777216]") {
      $0.limits.bodyBytes = $1
    },
    .number(
      "body-memory", 1024...(1 << 40),
      help: "memory for all request bodies at the same time [268435456]"
    ) {
      $0.limits.bodyMemory = $1
    },
    Setting("files", "DIR", help: filesHelp) { $0.files = $1 },
    .number("max-file", 1...(1 << 42), help: "largest file in bytes [4294967296]") {
      $0.fileBytes = $1
    },
    Setting("public-url", "URL", help: publicURLHelp) {
      configuration, text throws(Arguments.Misuse) in
      var address = text
      if address.hasSuffix("/") { address.removeLast() }
      guard SettingsReader.isAddress(address), !address.contains(where: { "?#\"<>\\".contains($0) })
      else { throw misuse("public-url", "needs an address, such as https://data.example") }
      configuration.publicURL = address
    },
    .number("work-seconds", 1...3600, help: "time limit for the work on one request [30]") {
      $0.limits.workSeconds = $1
    },
    .number(
      "request-seconds", 1...3600,
      help: "time limit for a request to arrive, anew for each 64 KiB [60]"
    ) {
      $0.limits.requestSeconds = $1
    },
    .number(
      "response-seconds", 1...86_400, help: "time limit for the client to read an answer [600]"
    ) {
      $0.limits.responseSeconds = $1
    },
    .number("max-connections", 1...1_000_000, help: "open connections [20000]") {
      $0.limits.connections = $1
    },
    .number(
      "max-connections-per-address", 0...1_000_000,
      help: "open connections of one address; 0: no limit [a quarter of all; behind proxies: 0]"
    ) {
      $0.limits.connectionsPerAddress = $1
    },
    Setting(
      "trusted-proxy", "ADDR",
      help:
        "a proxy whose X-Forwarded-For has the address of the client; may be repeated"
    ) {
      configuration, text throws(Arguments.Misuse) in
      guard let address = IPAddress(text) else {
        throw misuse("trusted-proxy", "needs a numeric address, such as 10.0.0.1 or ::1")
      }
      configuration.proxies.append(address)
    },
    .flag(
      "proxy-protocol",
      help:
        "connections of trusted proxies begin with a header of the PROXY protocol, version 1 or 2"
    ) {
      $0.usesProxyProtocol = $1
    },
    Setting("cors-origin", "ORIGIN|*", help: corsHelp) {
      configuration, text throws(Arguments.Misuse) in
      guard CrossOriginPolicy.isOrigin(text) else {
        throw misuse("cors-origin", "needs an origin, such as https://app.example, or *")
      }
      configuration.crossOrigins.append(text)
    },
    Setting("lookup", "MEMBERS|off", help: lookupHelp) {
      configuration, text throws(Arguments.Misuse) in
      guard let discovery = Discovery(text) else {
        throw misuse("lookup", "needs off, or some of \(Discovery.members.joined(separator: ","))")
      }
      configuration.discovery = discovery
    },
    Setting("logic", "FILE", help: logicHelp) {
      configuration, text throws(Arguments.Misuse) in
      let settings: LogicSettings = try fromFile("logic", text, by: LogicSettings.init)
      configuration.logic.append(settings)
    },
    Setting("openid", "FILE", help: openIDHelp) {
      configuration, text throws(Arguments.Misuse) in
      let settings: OpenIDSettings = try fromFile("openid", text, by: OpenIDSettings.init)
      configuration.identity.append(settings)
    },
    .number("event-threads", 1...256, help: "threads that carry connections [2]") {
      $0.eventThreads = $1
    },
    .number("workers", 1...1024, help: "threads that read and write data [16]") { $0.workers = $1 },
    .number("cache-mib", 1...65_536, help: "page cache for each database connection [16]") {
      $0.cacheMiB = $1
    },
  ]

  private static let storageHelp =
    "where the data is: sqlite, in DIR, or the address of a PostgreSQL database, postgres://…, which "
    + "several servers may share [sqlite]"

  private static let filesHelp =
    "directory of the bytes of files, not encrypted; servers that share a database share it "
    + "[DIR/files beside SQLite's data without a key]"

  private static let publicURLHelp =
    "where clients reach the server, for the addresses of files: such as https://data.example "
    + "[the host that a request names]"

  private static let corsHelp =
    "allow web pages of this origin to use the server (CORS); may be repeated [none]"

  private static let logicHelp =
    "business logic: a JSON file with url, secret, hooks and endpoints of a service; may be repeated [none]"

  private static let openIDHelp =
    "logins by a provider of OpenID Connect: a JSON file with issuer, client-id and secret; may be repeated [none]"

  private static let lookupHelp =
    "members that users find each other by, and see of each other; off: none "
    + "[\(Discovery.members.joined(separator: ","))]"

  private static let permitHelp =
    "default rule for create, read, update or delete: always, never, creator, acl or shared; "
    + "may be repeated"

  private init(
    _ name: String, _ placeholder: String, help: String,
    apply: @escaping @Sendable (inout Server.Configuration, String) throws(Arguments.Misuse) -> Void
  ) {
    self.name = name
    self.placeholder = placeholder
    self.help = help
    self.apply = apply
  }

  private static func flag(
    _ name: String, help: String,
    set: @escaping @Sendable (inout Server.Configuration, Bool) -> Void
  ) -> Setting {
    Setting(name, "", help: help) { configuration, text throws(Arguments.Misuse) in
      guard text == "true" || text == "false" else {
        throw misuse(name, "needs true, false or no value")
      }
      set(&configuration, text == "true")
    }
  }

  private static func number(
    _ name: String, _ range: ClosedRange<Int>, help: String,
    set: @escaping @Sendable (inout Server.Configuration, Int) -> Void
  ) -> Setting {
    Setting(name, "N", help: help) { configuration, text throws(Arguments.Misuse) in
      guard let number = Int(text), range.contains(number) else {
        throw misuse(name, "needs a number from \(range.lowerBound) to \(range.upperBound)")
      }
      set(&configuration, number)
    }
  }

  private static func tls(
    _ name: String, _ placeholder: String, help: String,
    set:
      @escaping @Sendable (inout Server.Configuration.TLS, String) throws(Arguments.Misuse) -> Void
  ) -> Setting {
    Setting(name, placeholder, help: help) { configuration, text throws(Arguments.Misuse) in
      var tls = configuration.tls ?? .init()
      try set(&tls, text)
      configuration.tls = tls
    }
  }

  private static func misuse(_ name: String, _ text: String) -> Arguments.Misuse {
    Arguments.Misuse(description: "--\(name) \(text)")
  }

  /// A file of settings, or, in a configuration file, the settings themselves.
  private static func fromFile<Settings>(
    _ name: String, _ text: String, by read: (String) throws(SettingsReader.Failure) -> Settings
  ) throws(Arguments.Misuse) -> Settings {
    let settings: String
    do { settings = text.hasPrefix("{") ? text : try TextFile.read(text) } catch {
      throw misuse(name, "takes a file: \(error.description)")
    }
    do { return try read(settings) } catch { throw misuse(name, error.description) }
  }

  /// `OPERATION=RULE`.
  private static func permit(
    _ text: String, _ permissions: inout Permissions
  ) throws(Arguments.Misuse) {
    let sides = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard sides.count == 2, let operation = Permissions.Action(rawValue: sides[0]),
      let rule = Permissions.Rule(rawValue: sides[1]), Permissions.allows(rule, for: operation)
    else {
      throw misuse("permit", "needs OPERATION=RULE, such as read=acl; see --help")
    }
    permissions[operation] = rule
  }
}
