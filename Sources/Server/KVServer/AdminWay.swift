internal import Glibc
internal import KVBase
internal import KVServerAdmin
internal import KVServerCore
internal import KVServerPostgres
internal import KVServerSQLite

/// The way to an app that the options of a command name.
struct AdminWay {
  let connection: any AdminConnection
  let app: String

  init(_ arguments: AdminArguments) throws(AdminFailure) {
    if let url = arguments["url"] {
      app = try Self.required("app", arguments)
      connection = try HTTPConnection(
        url, app: app, masterSecret: try Self.masterSecret(arguments),
        caFile: arguments["ca-file"])
      return
    }
    let configuration = try Self.configuration(arguments)
    guard !configuration.data.isEmpty || configuration.storage != nil else {
      throw AdminFailure(.misuse, "--data, --storage, --url or --config is missing")
    }
    if configuration.storage == nil {
      let file = SQLiteStore.file(in: configuration.data)
      guard access(file, F_OK) == 0 else { throw AdminFailure(.notFound, "there is no \(file)") }
    }
    let log = Log(.error)
    let auditLog = try configuration.openAuditLogOfCommand()
    let lock = try Self.lock(configuration)
    let store: any ServerStore
    do {
      store = try configuration.openStore(log: log, isVisit: arguments["config"] == nil)
    } catch {
      throw AdminFailure(.failed, error.description)
    }
    do throws(AdminFailure) {
      app = try Self.app(wanted: arguments["app"], configuration, store)
      connection = LockedConnection(
        try LocalConnection(
          store, app: app, seal: try? configuration.seal(of: app),
          settings: configuration.serviceSettings, log: log,
          administrator: AuditEvent.localActor, audit: auditLog?.add), lock: lock)
    } catch {
      store.close()
      throw error
    }
  }

  /// What the options of a command say of the server, over its configuration file.
  static func configuration(
    _ arguments: AdminArguments
  ) throws(AdminFailure) -> Server.Configuration {
    var options = Arguments.Options()
    for name in ["config", "data", "storage", "audit-log", "encryption-key-file"] {
      if let value = arguments[name] { options.all.append(.init(name: name, value: value)) }
    }
    var configuration = Server.Configuration(data: "")
    do throws(Arguments.Misuse) { try configuration.applyAll(options) } catch {
      throw AdminFailure(.misuse, error.description)
    }
    return configuration
  }

  /// Only the data of SQLite needs a lock.
  private static func lock(
    _ configuration: Server.Configuration
  ) throws(AdminFailure) -> DirectoryLock? {
    guard configuration.storage == nil else { return nil }
    do throws(Server.Failure) {
      return DirectoryLock(try ServerDirectory(configuration.data))
    } catch {
      guard error.isInUse else { throw AdminFailure(.failed, error.description) }
      throw AdminFailure(
        .unavailable,
        "\(error.description): use --url with --app and the master secret, or stop the server")
    }
  }

  /// The app that is wanted, or the only one there is.
  private static func app(
    wanted: String?, _ configuration: Server.Configuration, _ store: any ServerStore
  ) throws(AdminFailure) -> String {
    let known: [String]
    do { known = try store.appKeys() } catch {
      throw AdminFailure(.failed, "cannot read the data: \(error.cause ?? error.debug)")
    }
    let named = configuration.apps.map(\.key)
    if let wanted {
      guard (known + named).contains(where: { $0.hasSameBytes(as: wanted) }) else {
        throw AdminFailure(.notFound, "there is no app \(wanted)")
      }
      return wanted
    }
    let all = named.isEmpty ? known : named
    guard let only = all.first, all.count == 1 else {
      let list = all.joined(separator: ", ")
      throw AdminFailure(.misuse, all.isEmpty ? "there is no app" : "--app must be one of \(list)")
    }
    return only
  }

  private static func masterSecret(_ arguments: AdminArguments) throws(AdminFailure) -> String {
    if let path = arguments["master-secret-file"] {
      do {
        let text = try TextFile.read(path)
        return String(text.prefix { $0 != "\n" && $0 != "\r" && $0 != "\r\n" })
      } catch {
        throw AdminFailure(.misuse, error.description)
      }
    }
    if let value = getenv("KVSTORED_MASTER_SECRET") { return String(cString: value) }
    throw AdminFailure(
      .misuse, "--master-secret-file FILE or the variable KVSTORED_MASTER_SECRET is missing")
  }

  private static func required(
    _ option: String, _ arguments: AdminArguments
  ) throws(AdminFailure) -> String {
    guard let value = arguments[option] else {
      throw AdminFailure(.misuse, "--\(option) is missing")
    }
    return value
  }
}

/// The lock of a data directory, which a class can hold.
final class DirectoryLock {
  private let directory: ServerDirectory

  init(_ directory: consuming ServerDirectory) { self.directory = directory }

  func unlock() { directory.unlock() }
}

/// A connection to data that stays locked until it is closed.
private final class LockedConnection: AdminConnection {
  private let connection: LocalConnection
  private let lock: DirectoryLock?

  init(_ connection: LocalConnection, lock: DirectoryLock?) {
    self.connection = connection
    self.lock = lock
  }

  func send(_ request: AdminRequest) throws(AdminFailure) -> AdminAnswer {
    try connection.send(request)
  }

  func close() {
    connection.close()
    lock?.unlock()
  }
}
