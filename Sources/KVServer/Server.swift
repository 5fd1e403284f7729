internal import Glibc
internal import KVBase
internal import KVServerCore
package import KVServerHTTP
internal import KVServerPostgres
internal import KVServerSQLite

/// A running server. Safe from any thread.
package final class Server: Sendable {
  /// Why a server cannot start: one sentence for whoever starts it.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String
    init(_ description: String) { self.description = description }
  }

  /// The address it listens on.
  package let address: ListenAddress
  package let url: String

  private let service: Service
  private let http: HTTPServer
  private let pools: [WorkerPool]
  private let accessLog: AccessLog?
  /// Nil: all data is elsewhere.
  private let directory: ServerDirectory?
  private let identities: TLSIdentities?
  private let tls: Configuration.TLS?
  private let log: Log
  private let isStopped = Monitor(false)
  /// The app of the data directory; nil: the configuration names its own.
  let ownApp: AppFile.Loaded?

  /// Opens the data and begins to serve. What can be wrong with the certificate, the address or the data is looked at
  /// before an app is made.
  package init(_ configuration: Configuration) throws(Failure) {
    var configuration = configuration
    tls = configuration.tls
    identities = try tls.map { (tls) throws(Failure) in TLSIdentities(try Self.identity(tls)) }
    directory = configuration.data.isEmpty ? nil : try ServerDirectory(configuration.data)
    let log = Log(configuration.logLevel)
    self.log = log
    let socket = try Self.listen(configuration.listen)
    address = socket.address
    url = "\(configuration.tls == nil ? "http" : "https")://\(socket.address)"
    let store = try Self.store(configuration, log: log)
    ownApp = configuration.apps.isEmpty ? try AppFile.load(from: configuration.data) : nil
    if let ownApp { configuration.apps = [ownApp.app] }
    let workers = WorkerPool("kv-worker", threads: configuration.workers, limit: 100_000)
    let hashers = WorkerPool("kv-hasher", threads: configuration.hashers, limit: 1000)
    pools = [workers, hashers]
    service = try Self.service(
      configuration, store, workers: workers, hashers: hashers, log: log)
    accessLog = try Self.accessLog(configuration)
    let accessLog = self.accessLog
    http = HTTPServer(
      limits: configuration.limits, proxies: TrustedProxies(configuration.proxies), pool: workers,
      handler: service,
      observer: { record in accessLog?.add(record) },
      log: { log.debug("http: \($0)") })
    guard http.start(on: socket.release(), threads: configuration.eventThreads, tls: identities)
    else {
      throw Failure("cannot start HTTP on \(address); --log-level debug says why")
    }
  }

  /// Takes no more requests, lets running ones end for at most so long, writes everything and closes.
  /// The second time does nothing.
  package func stop(graceSeconds: Double = 10) {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    service.endPolls()
    http.stop(graceSeconds: graceSeconds)
    for pool in pools { pool.close() }
    service.close()
    accessLog?.close()
    directory?.unlock()
  }

  /// Opens the access log by its name again, and loads the certificate and its key for those who connect from now on.
  /// If they cannot be used, the log says why, and the server goes on with those it has.
  package func reload() {
    accessLog?.reopen()
    guard let tls, let identities else { return }
    do throws(Failure) {
      identities.replace(by: try Self.identity(tls))
      log.info("certificate loaded from \(tls.certificate)")
    } catch {
      log.error("the certificate stays as it was: \(error.description)")
    }
  }

  deinit { stop(graceSeconds: 0) }

  // MARK: Parts

  private static func listen(_ address: ListenAddress) throws(Failure) -> ListenSocket {
    do { return try ListenSocket(address) } catch { throw Failure(error.message) }
  }

  private static func store(
    _ configuration: Configuration, log: Log
  ) throws(Failure) -> any ServerStore {
    if let address = configuration.storage {
      return try postgresStore(address, configuration, log: log)
    }
    var settings = SQLiteStore.Settings()
    settings.permissions = configuration.permissions
    settings.historyDays = configuration.historyDays ?? 0
    settings.isRestored = configuration.isRestored
    settings.isDurable = configuration.isDurable
    settings.cacheMiB = configuration.cacheMiB
    do { return try SQLiteStore(in: configuration.data, settings, log: log) } catch {
      throw Failure(error.description)
    }
  }

  private static func postgresStore(
    _ address: String, _ configuration: Configuration, log: Log
  ) throws(Failure) -> any ServerStore {
    var settings = PostgresStore.Settings()
    settings.permissions = configuration.permissions
    settings.historyDays = configuration.historyDays ?? 0
    settings.isRestored = configuration.isRestored
    settings.isDurable = configuration.isDurable
    // One for each thread that may ask, so that none waits for another.
    settings.connections = configuration.workers + configuration.hashers + 2
    do { return try PostgresStore(address, settings, log: log) } catch {
      throw Failure(error.description)
    }
  }

  private static func service(
    _ configuration: Configuration, _ store: any ServerStore, workers: WorkerPool,
    hashers: WorkerPool, log: Log
  ) throws(Failure) -> Service {
    var settings = Service.Settings()
    settings.usesTLS = configuration.tls != nil
    settings.passwordCost = UInt(clamping: configuration.passwordCost)
    settings.sessionSeconds = configuration.sessionDays.map { Int64($0) * 86_400 }
    settings.loginClock = configuration.loginClock
    settings.liveClock = configuration.liveClock
    settings.discovery = configuration.discovery
    settings.bodyBytes = configuration.limits.bodyBytes
    settings.workSeconds = configuration.limits.workSeconds
    do {
      return try Service(
        store, apps: configuration.apps, settings: settings, workers: workers,
        hashers: hashers, log: log)
    } catch {
      throw Failure("cannot read the data: \(error.cause ?? error.debug)")
    }
  }

  private static func accessLog(_ configuration: Configuration) throws(Failure) -> AccessLog? {
    guard let path = configuration.accessLog else { return nil }
    do { return try AccessLog(path) } catch { throw Failure(error.message) }
  }

  private static func identity(_ tls: Configuration.TLS) throws(Failure) -> TLSIdentity {
    let (certificate, key): (String, String)
    do {
      (certificate, key) = (try TextFile.read(tls.certificate), try TextFile.read(tls.key))
    } catch {
      throw Failure(error.description)
    }
    do { return try TLSIdentity(certificate: certificate, key: key) } catch {
      throw Failure("cannot use \(tls.certificate) with \(tls.key): \(error.message)")
    }
  }
}
