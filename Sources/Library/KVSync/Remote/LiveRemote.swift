internal import KVBase

/// What a live service has to offer: who listens, and one long poll for all that a client listens to.
///
/// Its methods block and may be called from any thread; each ends with `.cancelled` when the call is.
package protocol LiveRemote: AnyObject, Sendable {
  /// Lets a user listen with a device: a unique text. Harmless if it may already. `userId` nil: the
  /// backend has no users.
  func register(
    _ userId: String?, device: String, call: Call
  ) throws(StoreError) -> LiveRegistration

  /// Ends a registration. `token`: of the session that was registered, which need not be the active one any more; nil: the
  /// backend has no users.
  func unregister(
    _ registration: LiveRegistration, token: String?, call: Call
  ) throws(StoreError)

  /// Asks for the messages of a topic. Gives when the backend did it, by its own clock, if it says so.
  func join(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) -> BackendMoment?

  func leave(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError)

  /// Waits for messages after a position; nil: gives the present position at once.
  func poll(
    _ registration: LiveRegistration, from position: LivePosition?, call: Call
  ) throws(StoreError) -> LivePoll

  /// Succeeds if the service can be reached.
  func probe(_ registration: LiveRegistration, _ call: Call) throws(StoreError)
}

/// What the backend gave to a user who may listen.
package struct LiveRegistration: Sendable {
  /// Nil: the backend has no users.
  package var userId: String?
  /// What listens: made for this registration, so that no other one ends it.
  package var device: String
  /// What the service needs to know it by: keys, an address. Only the service reads it.
  package var rights: [UInt8]
  /// The backend did not know the device before, and says so.
  package var isNew: Bool

  package init(userId: String?, device: String, rights: [UInt8] = [], isNew: Bool = false) {
    self.userId = userId
    self.device = device
    self.rights = rights
    self.isNew = isNew
  }

  /// Whether this user was registered.
  package func isOf(_ userId: String?) -> Bool {
    self.userId.map { RecordID($0) } == userId.map { RecordID($0) }
  }
}

extension LiveRegistration: Equatable {
  /// Whether they are of the same device, with the same rights.
  package static func == (left: LiveRegistration, right: LiveRegistration) -> Bool {
    left.isOf(right.userId) && left.device.hasSameBytes(as: right.device)
      && left.rights == right.rights
  }
}

/// A position in the stream of messages, in the service's notation: only the service reads it.
package struct LivePosition: Sendable, Equatable {
  package var text: String
  package init(_ text: String) { self.text = text }

  package static func == (left: LivePosition, right: LivePosition) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }
}

/// The answer to a long poll.
package enum LivePoll: Sendable, Equatable {
  /// `isIncomplete`: the service no longer has all that came after the position that was asked for.
  case messages([LiveMessage], next: LivePosition, isIncomplete: Bool = false)
  /// The user may not listen to these; to nothing at all if the list is empty.
  case refused([LiveTopic], StoreError)
  /// The same for all of them, but the device was registered anew: what it had joined it has to join again.
  case registeredAnew(LiveRegistration, StoreError)
}

package struct LiveMessage: Sendable, Equatable {
  /// What tells it from every other message of the service.
  package var key: String
  package var topic: LiveTopic
  package var change: LiveChange

  package init(key: String, topic: LiveTopic, change: LiveChange) {
    self.key = key
    self.topic = topic
    self.change = change
  }
}

/// What happened to an entity, or was said in a stream.
package enum LiveChange: Sendable, Equatable {
  package enum Cause: String, Sendable {
    case create, update
    /// The service does not tell them apart.
    case save
  }

  /// The entity as it is now.
  case saved([UInt8], id: String, Cause)
  /// `at`: when, in the backend's notation, if it says so.
  case deleted(id: String, at: String?)
  /// An entity was saved that is too large for a message: it has to be fetched.
  case tooLarge(id: String, Cause)
  /// JSON that a user has sent.
  case said([UInt8])
}

/// An event that a subscriber receives.
package enum LiveEvent: Sendable, Equatable {
  /// From now on everything is told.
  case ready
  case changed(LiveChange)
  /// Something may have been missed that cannot be told: the subscriber should read the collection.
  case missed
  case status(LiveStatus)
  case failure(StoreError)
}

package enum LiveStatus: String, Sendable {
  case connected
  /// Nothing will follow: unregistered, logged out, or refused, which an error told before.
  case disconnected
  case reconnected
  /// The connection broke; it is tried again.
  case unexpectedDisconnect
}
