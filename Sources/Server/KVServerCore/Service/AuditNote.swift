internal import KVBase

/// What an operation adds to its line of the audit log, beyond what the request says.
final class AuditNote: Sendable {
  private struct State {
    var action: AuditEvent.Action?
    var subject: String?
  }

  private let state = Monitor(State())

  /// The action, if it is not the one that the route stands for.
  var action: AuditEvent.Action? {
    get { state.withLock { $0.action } }
    set { state.withLock { $0.action = newValue } }
  }

  /// What it was done to, if the request does not say it.
  var subject: String? {
    get { state.withLock { $0.subject } }
    set { state.withLock { $0.subject = newValue } }
  }
}
