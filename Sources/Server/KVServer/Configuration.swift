internal import KVBase
package import KVServerCore
package import KVServerHTTP
package import KVServerLogic
package import KVServerOpenID

extension Server {
  /// How a server is started. A value; the defaults are those of the command line.
  package struct Configuration: Sendable {
    package typealias App = AppCredentials

    /// TLS: PEM files, and what is allowed.
    struct TLS: Sendable, Equatable {
      var certificate = ""
      var key = ""
      var minimum = TLSRules.Version.tls12
      /// A priority of GnuTLS; nil: the default.
      var ciphers: String?
      /// The file of those that sign clients' certificates; nil: clients need none.
      var clientAuthorities: String?
    }

    package static let defaultPort: UInt16 = 8778

    /// The directory that holds everything; made if it is missing.
    package var data: String
    /// The address of a PostgreSQL database that holds the data; nil: SQLite does, in `data`.
    package var storage: String?
    package var listen = ListenAddress(host: "127.0.0.1", port: defaultPort)
    package var apps: [App] = []
    var tls: TLS?
    /// The file of the key that SQLite's data is encrypted with; nil: it is not.
    package var encryptionKeyFile: String?
    /// Whether a write is acknowledged only when it is on the disk.
    package var isDurable = true
    var permissions = Permissions()
    /// Days for which collections know deletions, unless the administrator says otherwise for one of
    /// them; nil: they do not.
    package var historyDays: Int?
    /// Whether collections get indexes for conditions that are scanned for again and again.
    package var makesIndexes = false
    /// Whether the data is a copy that was put back: what clients remember of it is void.
    package var isRestored = false
    package var limits = HTTPLimits()
    /// The directory of the bytes of files; nil: beside SQLite's data, if that is not encrypted, or nowhere.
    package var files: String?
    /// The largest file.
    package var fileBytes = 4 << 30
    /// Where clients reach the server, without a slash at the end; nil: at the host that they name.
    package var publicURL: String?
    /// The proxies whose `X-Forwarded-For` is believed.
    package var proxies: [IPAddress] = []
    /// Whether their connections begin with a header of the PROXY protocol.
    package var usesProxyProtocol = false
    /// The origins of web pages that may use the server; `*`: all.
    package var crossOrigins: [String] = []
    /// An address of its own for `/metrics`; nil: it needs the master secret.
    package var metrics: ListenAddress?
    /// The names under which that address may be asked, besides addresses and `localhost`.
    package var metricsHosts: [String] = []
    var discovery = Discovery()
    /// The operator's own services.
    package var logic: [LogicSettings] = []
    /// The providers by which users log in.
    package var identity: [OpenIDSettings] = []
    /// A file for the access log, `-` for standard output, nil for none.
    package var accessLog: String?
    /// A file for the audit log; nil: there is none.
    package var auditLog: String?
    var accessLogFormat = AccessLog.Format.text
    var logLevel = Log.Level.info
    /// How many days a session lasts.
    package var sessionDays = 180
    /// Days without a request after which they end.
    package var sessionIdleDays = 30
    package var signUp = SignUpRules()
    /// yescrypt's cost factor, 1 to 11.
    package var passwordCost = 5
    /// The characters that a new password has at least.
    package var passwordLength = 8
    /// Whether users have to say their old password when they change it.
    package var asksOldPassword = true
    /// Whether secrets that can be guessed are accepted on whatever address.
    package var allowsInsecureSecrets = false
    /// What clients may add.
    package var useLimits = UseLimits()
    /// Threads that carry connections, run queries and writes, and hash passwords.
    package var eventThreads = 2
    package var workers = 16
    package var hashers = 2
    /// Nanoseconds on a clock that is never set, for the times that failed logins have to wait.
    var loginClock: @Sendable () -> Int64 = monotonicNanoseconds
    var liveClock: @Sendable () -> Int64 = { Timestamp.now().milliseconds }
    /// SQLite's page cache for each connection to the file.
    package var cacheMiB = 16

    package init(data: String) { self.data = data }

    /// Takes over what the data directory's file says, which counts if nothing else names an app.
    mutating func add(_ file: AppFile.Loaded) {
      apps = file.apps
      logic += file.logic
      identity += file.identity
    }

    /// Adds an operator's service to a table; `app`: the one that it is for, nil for all; `name`: what it is called in an error.
    func add<Service>(
      _ service: Service, of app: String?, to table: inout AppTable<Service>, as name: String
    ) throws(Server.Failure) {
      if let app, !apps.contains(where: { $0.key.hasSameBytes(as: app) }) {
        throw Server.Failure("\(name) is for the app \(app), which is not served")
      }
      guard table.add(service, of: app) else {
        throw Server.Failure("\(app.map { "the app \($0)" } ?? "an app") has \(name) twice")
      }
    }

    /// Throws if a secret could be guessed and clients on other machines may try. Where only this machine can connect, for
    /// instance in a quick start, the log says so.
    func checkSecrets(log: Log) throws(Server.Failure) {
      let guessable = apps.filter(\.isGuessable)
      guard !guessable.isEmpty else { return }
      let names = guessable.map(\.key).joined(separator: ", ")
      if allowsInsecureSecrets { return log.warning("the secrets of \(names) can be guessed") }
      guard listen.isOfThisMachine, proxies.isEmpty else {
        throw Server.Failure(
          "the secrets of \(names) can be guessed: they have less than 128 bits (32 hex digits, or 23 letters and "
            + "digits); --insecure-secrets accepts them")
      }
      log.warning(
        "the secrets of \(names) can be guessed, and are accepted because only this machine can connect"
      )
    }
  }
}
