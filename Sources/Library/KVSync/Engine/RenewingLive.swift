/// A live service whose requests are repeated once when the session had run out and could be renewed.
package final class RenewingLive: LiveRemote {
  private let remote: any LiveRemote
  private let renewal: any SessionRenewal

  package init(_ remote: any LiveRemote, _ renewal: any SessionRenewal) {
    self.remote = remote
    self.renewal = renewal
  }

  package func register(
    _ userId: String?, device: String, call: Call
  ) throws(StoreError) -> LiveRegistration {
    try renewal.renewing(call) { () throws(StoreError) in
      try remote.register(userId, device: device, call: call)
    }
  }

  /// By a token that is given: whether the active session is good does not matter.
  package func unregister(
    _ registration: LiveRegistration, token: String?, call: Call
  ) throws(StoreError) {
    try remote.unregister(registration, token: token, call: call)
  }

  package func join(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) -> BackendMoment? {
    try renewal.renewing(call) { () throws(StoreError) in
      try remote.join(topic, registration, call: call)
    }
  }

  package func leave(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) {
    try renewal.renewing(call) { () throws(StoreError) in
      try remote.leave(topic, registration, call: call)
    }
  }

  /// Polls. The answer does not tell whether the session has expired, the device is unknown or the user may no longer listen.
  /// The backend tells that, when it is asked once more to let the user listen; a session that was renewed needs that anyway.
  package func poll(
    _ registration: LiveRegistration, from position: LivePosition?, call: Call
  ) throws(StoreError) -> LivePoll {
    let answer = try remote.poll(registration, from: position, call: call)
    guard case .refused(let topics, let refusal) = answer, topics.isEmpty else { return answer }
    do throws(StoreError) {
      let new = try register(registration.userId, device: registration.device, call: call)
      return .registeredAnew(new, refusal)
    } catch {
      switch error.kind {
      case .unauthorized, .forbidden, .noUser: return answer
      default: throw error
      }
    }
  }

  package func probe(_ registration: LiveRegistration, _ call: Call) throws(StoreError) {
    try remote.probe(registration, call)
  }
}
