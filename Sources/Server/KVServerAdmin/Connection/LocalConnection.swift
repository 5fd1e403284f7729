internal import KVBase
package import KVServerCore

/// The way to data without a server: its own service, in this process.
package final class LocalConnection: AdminConnection {
  private let service: Service
  private let pools: [WorkerPool]
  private let authorization: String

  /// Opens the app `key`, whose secrets need not be known: who can read the data may do everything. Closes the store
  /// with itself. `seal`: what the server seals invitations with; nil: that is not known, and there are none. `settings`: the
  /// server's, as far as they are known. `administrator`: the actor in the lines of `audit`.
  package init(
    _ store: any ServerStore, app key: String, seal: String?, settings: Service.Settings, log: Log,
    administrator: String = "master", audit: (@Sendable (AuditEvent) -> Void)? = nil
  ) throws(AdminFailure) {
    let master = hexText(randomBytes(16))
    let app = AppCredentials(
      key: key, secret: hexText(randomBytes(16)), masterSecrets: [MasterSecret(plain: master)],
      seal: seal)
    let workers = WorkerPool("kv-admin", threads: 1, limit: 16)
    pools = [workers]
    var settings = settings
    settings.bodyBytes = 1 << 30
    settings.administrator = administrator
    if let audit {
      settings.audit = { event in
        var event = event
        // There was no connection, and the request has no name that anything else knows.
        (event.address, event.requestId) = (nil, nil)
        audit(event)
      }
    }
    do {
      service = try Service(
        store, apps: [app], settings: settings, workers: workers, hashers: workers,
        metrics: Metrics(), log: log)
    } catch {
      throw AdminFailure(.failed, "cannot read the data: \(error.cause ?? error.debug)")
    }
    authorization = "Basic " + Base64.encode("\(key):\(master)")
  }

  package func send(_ request: AdminRequest) throws(AdminFailure) -> AdminAnswer {
    guard let target = Target(request.target) else {
      throw AdminFailure(.misuse, "a name is not UTF-8, or has a NUL")
    }
    var headers = Headers()
    headers[.authorization] = authorization
    headers[.apiVersion] = String(AdminProtocol.version)
    for header in request.headers {
      let name = header.name.utf8.withContiguousStorageIfAvailable {
        Header(UnsafeRawBufferPointer($0))
      }
      if let known = name ?? nil { headers[known] = header.value }
    }
    let reply = WaitingReply()
    service.handle(
      Request(
        method: .init(request.method), target: target, body: Payload(request.body ?? []),
        headers: headers, client: "admin"), reply)
    return try reply.answer()
  }

  package func close() {
    for pool in pools { pool.close() }
    service.close()
  }
}

/// What every request says.
enum AdminProtocol {
  static let version = 6
}

/// Hands an answer to the thread that waits for it.
private final class WaitingReply: Reply {
  private let response = Monitor<Response?>(nil)

  var isAbandoned: Bool { false }

  func send(_ response: Response) { self.response.withLockNotifyingAll { $0 = $0 ?? response } }

  func answer() throws(AdminFailure) -> AdminAnswer {
    guard let response = response.wait(for: { $0 }) else {
      throw AdminFailure(.unavailable, "there is no answer")
    }
    var body: [UInt8] = []
    switch response.body {
    case .none: break
    case .whole(let payload): body = payload.withBytes { Array($0) }
    case .stream(let source, for: _):
      do {
        while let piece = try source.nextPiece() { piece.withBytes { body += $0 } }
      } catch {
        throw AdminFailure(.failed, "reading failed: \(error)")
      }
    }
    return AdminAnswer(status: response.status, body: body)
  }
}
