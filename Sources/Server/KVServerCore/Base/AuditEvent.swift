package import KVBase
internal import KVJSON

/// What was done, or tried, and by whom: one line of the audit log. It has no secrets, and nothing of what was read or written.
package struct AuditEvent: Sendable, Equatable {
  /// What was done. The names are part of the log's format, and stay: docs/audit.md lists them.
  package enum Action: String, Sendable, CaseIterable {
    case startServer = "server.start"
    case stopServer = "server.stop"
    case addApp = "app.add"
    case changeApp = "app.change"
    case removeApp = "app.remove"
    /// A request had a secret that the app does not have.
    case checkSecret = "secret.check"
    case addSecret = "secret.add"
    case removeSecret = "secret.remove"
    case createUser = "user.create"
    case changeUser = "user.change"
    case changePassword = "user.password"
    case disableUser = "user.disable"
    case deleteUser = "user.delete"
    case restoreUser = "user.restore"
    case linkUser = "user.link"
    case unlinkUser = "user.unlink"
    case inviteUser = "user.invite"
    case beginSession = "session.begin"
    case endSession = "session.end"
    case endSessions = "session.end-all"
    case createGroup = "group.create"
    case changeGroup = "group.change"
    case deleteGroup = "group.delete"
    case changePermissions = "permissions.change"
    case changeStream = "stream.change"
    case changeHistory = "history.change"
    case addIndex = "index.add"
    case removeIndex = "index.remove"
    case renameCollection = "collection.rename"
    case removeCollection = "collection.remove"
    /// The administrator has read entities or users, or written entities.
    case readData = "data.read"
    case writeData = "data.write"
    case makeBackup = "backup.make"
    case restoreBackup = "backup.restore"
    case migrateData = "data.migrate"
    case changeEncryption = "data.encrypt"
  }

  package enum Outcome: String, Sendable, CaseIterable {
    case success
    /// The server has said no: 4xx.
    case refused
    /// It could not be done: 5xx.
    case failed

    package init(status: Int) {
      self = status < 400 ? .success : status < 500 ? .refused : .failed
    }
  }

  package var time: Timestamp
  package var action: Action
  /// `user:ID`, `app` (the app's own secret), `master` or `master:NAME` (a master secret), `local:UID` (a command on this machine)
  /// or `server`; nil: the request proved no identity.
  package var actor: String?
  /// The id or the name of what it was done to; nil: there is none, or it is not known.
  package var subject: String?
  /// The key of the app.
  package var app: String?
  package var address: String?
  package var outcome: Outcome
  package var requestId: String?

  package init(
    _ action: Action, by actor: String?, to subject: String? = nil, app: String? = nil,
    from address: String? = nil, outcome: Outcome = .success, requestId: String? = nil,
    at time: Timestamp = .now()
  ) {
    self.time = time
    self.action = action
    self.actor = actor
    self.subject = subject
    self.app = app
    self.address = address
    self.outcome = outcome
    self.requestId = requestId
  }

  /// The line with its end. It has no line ends inside, nor anything else that is invisible.
  package var line: String {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    let object: JSONObject = [
      "time": .string(time.description), "action": .string(action.rawValue), "actor": text(actor),
      "subject": text(subject), "app": text(app), "address": text(address),
      "outcome": .string(outcome.rawValue), "requestId": text(requestId),
    ]
    return JSONValue.object(object).text.visibleJSON + "\n"
  }
}
