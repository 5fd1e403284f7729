internal import Glibc
internal import KVBase
internal import KVServerCore
internal import KVServerHTTP

/// The program: reads the command line, serves until a signal tells it to end.
package enum Command {
  /// Runs the program; gives its exit status.
  package static func run(_ arguments: [String]) -> Int32 {
    if arguments.first == "admin" { return Administration.run(Array(arguments.dropFirst())) }
    do {
      switch try Arguments.parse(arguments) {
      case .help: output(Help.text)
      case .version: output("kvstored \(Version.text)\n")
      case .run(let options): try serve(options)
      case .backup(let data, let copy, let key):
        output(filesCopied: try Backup.make(of: data, at: copy, keyFile: key))
      case .restore(let data, let copy, let key):
        output(filesCopied: try Backup.restore(data, from: copy, keyFile: key))
      }
      return 0
    } catch let misuse as Arguments.Misuse {
      Log.standardError("kvstored: \(misuse)\nTry kvstored --help.\n")
      return 2
    } catch {
      Log.standardError("kvstored: \(error)\n")
      return 1
    }
  }

  private static func output(filesCopied count: Int) {
    if count > 0 { output("kvstored: copied the bytes of \(count) file\(count == 1 ? "" : "s")\n") }
  }

  private static func serve(_ options: Arguments.Options) throws {
    let signals = Signals.block()
    let configuration = try Server.Configuration(options)
    allowManyFiles()
    let server = try Server(configuration)
    if let app = server.ownApp { show(app) }
    if let path = options["port-file"] {
      try TextFile.write("\(server.address.port)\n", to: path)
    }
    if let address = server.metricsAddress {
      output("kvstored answers /metrics on http://\(address)\n")
    }
    // The last step: a script that waits for this line finds everything ready.
    output("kvstored listening on \(server.url)\n")
    let log = Log(configuration.logLevel)
    let location = configuration.storage == nil ? configuration.data : "PostgreSQL"
    let manager = ServiceManager()
    manager.ready()
    manager.watch { server.works() }
    let count = server.ownApp?.apps.count ?? configuration.apps.count
    log.info("data in \(location), \(count) app(s)")
    signals.wait {
      manager.reloading()
      server.reload { try Server.Configuration(options) }
      manager.ready()
    }
    manager.stopping()
    log.info("stopping")
    server.stop()
  }

  /// Says which apps are served. Their secrets are in the file alone: what is written here often ends in a journal.
  private static func show(_ own: AppFile.Loaded) {
    for app in own.apps {
      guard own.isNew else {
        output("kvstored serves app \(app.key), see \(own.path)\n")
        continue
      }
      output(
        """
        kvstored created an app and stored its key and secrets in \(own.path), as KEY:SECRET:MASTER:
          app key        \(app.key)

        """)
    }
  }

  /// Each connection is a file; the usual soft limit of 1024 is not the server's.
  private static func allowManyFiles() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  private static func output(_ text: String) {
    var text = text
    text.withUTF8 { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }
}

extension Server.Configuration {
  /// What a command line says, over what its configuration file says, over the defaults.
  package init(_ options: Arguments.Options) throws(Arguments.Misuse) {
    self.init(data: "")
    accessLog = "-"
    try applyAll(options)
    guard !data.isEmpty || storage != nil else {
      throw Arguments.Misuse(description: "--data DIR is missing")
    }
    guard !data.isEmpty || !apps.isEmpty else {
      throw Arguments.Misuse(description: "--app is required without --data")
    }
    if let tls, tls.certificate.isEmpty || tls.key.isEmpty {
      throw Arguments.Misuse(description: "--tls-cert and --tls-key go together")
    }
    guard !usesProxyProtocol || !proxies.isEmpty else {
      throw Arguments.Misuse(description: "--proxy-protocol needs --trusted-proxy")
    }
    try checkApps()
  }

  func checkApps() throws(Arguments.Misuse) {
    guard Set(apps.map { RecordID($0.key) }).count == apps.count else {
      throw Arguments.Misuse(description: "an app key occurs twice")
    }
    if let app = apps.first(where: \.hasOneSecretTwice) {
      throw Arguments.Misuse(
        description: "the secret of the app \(app.key) is its master secret, too")
    }
  }

  /// The options of the configuration file that they name, then their own.
  mutating func applyAll(_ options: Arguments.Options) throws(Arguments.Misuse) {
    if let path = options["config"] { try applyFile(path) }
    // Apps and rules of the command line replace those of the file, they do not add to them.
    if options["app"] != nil { apps = [] }
    try apply(options)
  }

  mutating func apply(_ options: Arguments.Options) throws(Arguments.Misuse) {
    for option in options.all {
      try Setting.named(option.name)?.apply(&self, option.value)
    }
  }

  private mutating func applyFile(_ path: String) throws(Arguments.Misuse) {
    let text: String
    do { text = try TextFile.read(path) } catch {
      throw Arguments.Misuse(description: error.description)
    }
    do { try apply(try ConfigurationFile.options(in: text)) } catch {
      throw Arguments.Misuse(description: "\(path): \(error.description)")
    }
  }
}

/// The text that `--help` prints.
enum Help {
  static var text: String {
    let lines = Setting.all.map { setting -> String in
      let head = "  --\(setting.name) \(setting.placeholder)"
      let gap = String(repeating: " ", count: max(2, 36 - head.count))
      return head + gap + setting.help
    }
    return """
      kvstored \(Version.text): a data store that speaks Kinvey's REST protocol.

      usage: kvstored --data DIR [options]
             kvstored --storage postgres://… --app KID:SECRET:MASTER [options]
             kvstored backup --data DIR --to NEWDIR      copies the data, even while a server uses it
             kvstored restore --data NEWDIR --from DIR   creates a data directory from such a copy
             kvstored admin COMMAND …                    users, collections, export, …: kvstored admin --help

      \(lines.joined(separator: "\n"))
        --version                         print the version
        --help                            print this

      Without --app the server creates an app, whose key and secrets it stores in DIR/app.json.
      Signals: SIGTERM and SIGINT end it when running requests are done; SIGHUP reopens the logs,
      loads the certificate again, and reads again which apps there are and by which providers users log in.

      """
  }
}
