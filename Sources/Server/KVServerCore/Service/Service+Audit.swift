internal import KVBase

/// The audit log: which requests have a line in it, and what it says.
extension Service {
  /// How often one administrator's reads, or writes, of one collection have a line, in milliseconds.
  private static let dataMilliseconds: Int64 = 60_000

  /// Adds the line of a request that was answered, or refused by `error`, if it is one that has a line.
  func audit(_ call: AuthenticatedRequest, _ route: Route, refusedBy error: ServerError? = nil) {
    guard let trail = settings.audit, let principal = call.proven,
      let (action, subject) = route.audited(
        call.request.method, isByMaster: principal == .master)
    else { return }
    // What has to wait was not tried. This bounds what guessing can add.
    if error?.code == .tooManyRequests { return }
    let event = AuditEvent(
      call.note?.action ?? action, by: actor(principal, call.master),
      to: call.note?.subject ?? subject,
      app: call.app.key, from: call.request.client,
      outcome: .init(status: error?.status ?? 200), requestId: call.request.id)
    if isDue(event, of: action) { trail(event) }
  }

  /// Adds the line of a request whose secret is wrong. It may be on an event thread, which does not write.
  func auditWrongSecret(_ request: Request, _ app: App) {
    guard let trail = settings.audit else { return }
    let event = AuditEvent(
      .checkSecret, by: nil, app: app.key, from: request.client, outcome: .refused,
      requestId: request.id)
    addLater(event, to: trail)
  }

  /// Adds the line of a request whose master secret is not good for it.
  func auditRefusal(of master: MasterSecret, _ request: Request, to route: Route, in app: App) {
    guard let trail = settings.audit,
      let (action, subject) = route.audited(request.method, isByMaster: true)
    else { return }
    let event = AuditEvent(
      action, by: actor(.master, master), to: subject, app: app.key, from: request.client,
      outcome: .refused, requestId: request.id)
    if isDue(event, of: action) { addLater(event, to: trail) }
  }

  /// Has a worker add a line, unless the server is about to end.
  private func addLater(_ event: AuditEvent, to trail: @escaping @Sendable (AuditEvent) -> Void) {
    if !submit(for: .address(event.address ?? "-"), { trail(event) }) { trail(event) }
  }

  /// Adds the lines of the apps that a reload has added, changed and removed.
  func auditApps(_ changes: [(AuditEvent.Action, key: String)]) {
    guard let trail = settings.audit else { return }
    for (action, key) in changes { trail(AuditEvent(action, by: "server", to: key, app: key)) }
  }

  private func actor(_ principal: Principal, _ master: MasterSecret?) -> String {
    switch principal {
    case .app: "app"
    case .user(let id): "user:\(id)"
    case .master: settings.administrator + (master?.name.map { ":\($0)" } ?? "")
    }
  }

  /// An export is many requests, and a service with the master secret may read all day: they have one line a minute.
  private func isDue(_ event: AuditEvent, of action: AuditEvent.Action) -> Bool {
    guard action == .readData || action == .writeData else { return true }
    var hasher = Hasher()
    for part in [
      event.action.rawValue, event.actor, event.subject, event.app, event.address,
      event.outcome.rawValue,
    ] {
      hasher.combine(part.map(RecordID.init))
    }
    let key = hasher.finalize()
    return auditedData.withLock { noted in
      if let last = noted[key], event.time.milliseconds - last < Self.dataMilliseconds {
        return false
      }
      noted[key] = event.time.milliseconds
      return true
    }
  }
}

extension Route {
  /// The action that a request stands for in the audit log, and its subject as far as the path says it; nil: it has no line.
  fileprivate func audited(
    _ method: Request.Method, isByMaster: Bool
  ) -> (AuditEvent.Action, subject: String?)? {
    let isReading = method == .get || method == .head
    switch self {
    case .login: return (.beginSession, nil)
    case .logout, .session: return (.endSession, nil)
    case .tokens(_, let user): return (.endSessions, user)
    case .users where method == .post: return (.createUser, nil)
    case .user(_, let id) where method == .put: return (.changeUser, id)
    case .user(_, let id) where method == .delete: return (.disableUser, id)
    case .restoreUser(_, let id): return (.restoreUser, id)
    case .password(_, let user): return (.changePassword, user)
    case .identity(_, let user): return (method == .put ? .linkUser : .unlinkUser, user)
    case .invitations: return (.inviteUser, nil)
    case .userGroups where method == .post: return (.createGroup, nil)
    case .userGroup(_, let id) where method == .put: return (.changeGroup, id)
    case .userGroup(_, let id) where method == .delete: return (.deleteGroup, id)
    case .permissions(_, let name) where !isReading: return (.changePermissions, name)
    case .history(_, let name) where !isReading: return (.changeHistory, name)
    case .indexes(_, let name) where method == .put: return (.addIndex, name)
    case .indexes(_, let name) where method == .delete: return (.removeIndex, name)
    case .streamACL(_, let stream) where !isReading: return (.changeStream, stream.name)
    case .rename(_, let name): return (.renameCollection, name)
    case .removeCollection: return (.removeCollection, nil)
    case .collection(_, let name), .entity(_, let name, id: _):
      return isByMaster ? (isReading ? .readData : .writeData, name) : nil
    case .files, .file: return isByMaster ? (isReading ? .readData : .writeData, "blob") : nil
    case .batch(_, let name): return isByMaster ? (.writeData, name) : nil
    case .count(_, let name), .delta(_, let name), .group(_, let name):
      return isByMaster ? (.readData, name) : nil
    case .users, .user, .lookup:
      return isByMaster ? (.readData, CollectionName.accounts) : nil
    case .userGroups, .userGroup: return isByMaster ? (.readData, "group") : nil
    case .health, .metrics, .ping, .collections, .permissions, .history, .indexes, .me, .sessions,
      .usernameExists, .mail, .verifyAddress, .customEndpoint, .register, .unregister, .subscribe,
      .unsubscribe, .streamACL, .streamPublish, .streamSubscribe, .streamUnsubscribe, .substreams,
      .oauth, .poll, .pubNub, .fileBytes:
      return nil
    }
  }
}
