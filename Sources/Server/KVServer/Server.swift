internal import Glibc
internal import KVBase
internal import KVServerCore
package import KVServerHTTP
internal import KVServerLogic

/// A running server. Safe from any thread.
package final class Server: Sendable {
  /// Why a server cannot start: one sentence for the operator.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String
    /// Whether another server uses the data.
    var isInUse = false

    init(_ description: String) { self.description = description }
  }

  /// The address it listens on.
  package let address: ListenAddress
  package let url: String

  let service: Service
  private let http: HTTPServer
  /// What answers `/metrics` on an address of its own.
  private let metrics: MetricsServer?
  private let pools: [WorkerPool]
  private let logic: [any BusinessLogic]
  private let providers: Monitor<LoginProviders>
  private let accessLog: AccessLog?
  private let auditLog: AuditLog?
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
    identities = try tls.map { (tls) throws(Failure) in
      TLSIdentities(try Self.identity(tls), try Self.rules(tls))
    }
    directory = configuration.data.isEmpty ? nil : try ServerDirectory(configuration.data)
    let log = Log(configuration.logLevel)
    self.log = log
    let socket = try Self.listen(configuration.listen)
    address = socket.address
    url = "\(configuration.tls == nil ? "http" : "https")://\(socket.address)"
    let store = try configuration.openStore(log: log)
    ownApp = configuration.apps.isEmpty ? try AppFile.load(from: configuration.data) : nil
    if let ownApp { configuration.add(ownApp) }
    try configuration.checkSecrets(log: log)
    let logic = try Self.logic(configuration)
    self.logic = logic.all
    let providers = try LoginProviders(of: configuration)
    self.providers = Monitor(providers)
    let auditLog = try configuration.openAuditLog(log: log)
    self.auditLog = auditLog
    let workers = WorkerPool("kv-worker", threads: configuration.workers, limit: 100_000)
    let hashers = WorkerPool("kv-hasher", threads: configuration.hashers, limit: 1000)
    pools = [workers, hashers]
    let metrics = Metrics()
    service = try Self.service(
      configuration, store, logic: logic, providers: providers.table, auditLog: auditLog,
      workers: workers, hashers: hashers, metrics: metrics, log: log)
    accessLog = try Self.accessLog(configuration)
    let accessLog = self.accessLog
    let http = HTTPServer(
      limits: configuration.limits, proxies: TrustedProxies(configuration.proxies),
      crossOrigin: CrossOriginPolicy(configuration.crossOrigins), pool: workers, handler: service,
      observer: { record in
        metrics.requests.add(record)
        accessLog?.add(record)
      },
      log: { log.debug("http: \($0)") })
    self.http = http
    if let auditLog {
      metrics.add { page in
        page.add(
          "kvstored_audit_failures_total", .counter,
          help: "Lines of the audit log that could not be written.", value: auditLog.failures)
      }
    }
    let process = ProcessStatus()
    metrics.add { [weak http] page in
      http?.write(to: &page)
      process.write(to: &page)
    }
    let service = self.service
    self.metrics = try configuration.metrics.map { (address) throws(Failure) in
      try MetricsServer(
        service, at: address, hosts: configuration.metricsHosts + [address.host], log: log)
    }
    let isStarted = http.start(
      on: socket.release(), threads: configuration.eventThreads, tls: identities,
      isProxied: configuration.usesProxyProtocol)
    guard isStarted else {
      throw Failure("cannot start HTTP on \(address); --log-level debug shows the reason")
    }
    auditLog?.add(AuditEvent(.startServer, by: "server"))
  }

  /// Where `/metrics` is answered without credentials; nil: nowhere.
  package var metricsAddress: ListenAddress? { metrics?.address }

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
    metrics?.stop()
    for logic in logic { logic.close() }
    providers.withLock { $0 }.close()
    for pool in pools { pool.close() }
    service.close()
    auditLog?.add(AuditEvent(.stopServer, by: "server"))
    accessLog?.close()
    directory?.unlock()
  }

  /// Whether threads still take work: waits for one of each pool.
  func works() -> Bool {
    let waiting = Monitor(pools.count)
    for pool in pools {
      let isAccepted = pool.submit(for: .address("watchdog")) {
        waiting.withLockNotifyingAll { $0 -= 1 }
      }
      guard isAccepted else { return false }
    }
    return waiting.wait { $0 == 0 ? true : nil } ?? false
  }

  /// Opens the access log and the audit log by their names again, serves the apps that `configuration` has or, if it has none, those of the data
  /// directory's file, with the providers of their logins, and loads the certificate and its key for those who connect from now on.
  /// If they cannot be used, the log says why, and the server goes on with those it has. To be called by one thread at a time.
  package func reload(_ configuration: () throws -> Configuration) {
    accessLog?.reopen()
    auditLog?.reopen()
    do {
      var configuration = try configuration()
      if configuration.apps.isEmpty { configuration.add(try Self.appFile(of: configuration)) }
      try configuration.checkSecrets(log: log)
      let next = try LoginProviders(of: configuration, former: providers.withLock { $0 })
      try service.serve(configuration.apps, next.table)
      providers.withLock { $0 = next }
      log.info("\(configuration.apps.count) app(s) are served now")
    } catch let error as ServerError {
      log.error("the former apps are still served: \(error.cause ?? error.debug)")
    } catch {
      log.error("the former apps are still served: \(error)")
    }
    reloadCertificate()
  }

  private static func appFile(
    of configuration: Configuration
  ) throws(Failure) -> AppFile.Loaded {
    guard let file = try AppFile.read(from: configuration.data) else {
      throw Failure("\(configuration.data)/\(AppFile.name) is missing")
    }
    return file
  }

  private func reloadCertificate() {
    guard let tls, let identities else { return }
    do throws(Failure) {
      identities.replace(by: try Self.identity(tls))
      log.info("certificate loaded from \(tls.certificate)")
    } catch {
      log.error("the former certificate is still in use: \(error.description)")
    }
  }

  deinit { stop(graceSeconds: 0) }

  // MARK: Parts

  static func listen(_ address: ListenAddress) throws(Failure) -> ListenSocket {
    do { return try ListenSocket(address) } catch { throw Failure(error.message) }
  }

  private static func service(
    _ configuration: Configuration, _ store: any ServerStore,
    logic: AppTable<any BusinessLogic>, providers: AppTable<any IdentityProvider>,
    auditLog: AuditLog?,
    workers: WorkerPool, hashers: WorkerPool, metrics: Metrics, log: Log
  ) throws(Failure) -> Service {
    var settings = configuration.serviceSettings
    settings.logic = logic
    settings.files = try configuration.openFiles()
    settings.audit = auditLog?.add
    do {
      return try Service(
        store, apps: configuration.apps, providers: providers, settings: settings,
        workers: workers, hashers: hashers, metrics: metrics, log: log)
    } catch {
      throw Failure("cannot read the data: \(error.cause ?? error.debug)")
    }
  }

  private static func logic(
    _ configuration: Configuration
  ) throws(Failure) -> AppTable<any BusinessLogic> {
    var logic = AppTable<any BusinessLogic>()
    for settings in configuration.logic {
      let client: HookClient
      do { client = try HookClient(settings) } catch { throw Failure("logic: \(error)") }
      try configuration.add(client, of: settings.app, to: &logic, as: "business logic")
    }
    return logic
  }

  private static func accessLog(_ configuration: Configuration) throws(Failure) -> AccessLog? {
    guard let path = configuration.accessLog else { return nil }
    do { return try AccessLog(path, configuration.accessLogFormat) } catch {
      throw Failure(error.message)
    }
  }

  private static func rules(_ tls: Configuration.TLS) throws(Failure) -> TLSRules {
    var authorities: String?
    if let path = tls.clientAuthorities {
      do { authorities = try TextFile.read(path) } catch { throw Failure(error.description) }
    }
    do throws(TLSRules.Failure) {
      _ = try TLSRules(minimum: tls.minimum, ciphers: tls.ciphers)
    } catch {
      throw Failure("--tls-ciphers \(error.message)")
    }
    do throws(TLSRules.Failure) {
      return try TLSRules(
        minimum: tls.minimum, ciphers: tls.ciphers, clientAuthorities: authorities)
    } catch {
      throw Failure("\(tls.clientAuthorities ?? "") \(error.message)")
    }
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
