internal import KVBase

/// The messages that one transaction has for the subscribers of a collection or a stream, and their times.
package struct LiveAnnouncement: Sendable {
  package enum Content: Sendable {
    case changes(LiveChanges)
    /// A user's message.
    case payload([UInt8], from: String, Audience)
  }

  package let app: Int64
  package let topic: String
  package let content: Content
  /// The time of the first message; the others have the times after it.
  package let time: Int64
  /// Whether there was a subscriber when it was written, so that it is in the journal.
  package let isJournaled: Bool

  package init(
    app: Int64, topic: String, content: Content, time: Int64, isJournaled: Bool
  ) {
    self.app = app
    self.topic = topic
    self.content = content
    self.time = time
    self.isJournaled = isJournaled
  }

  /// Whether the changes were more than can be published.
  package var isCut: Bool {
    if case .changes(let changes) = content { changes.isCut } else { false }
  }

  package var messages: [LiveMessage] {
    switch content {
    case .changes(let changes):
      return changes.list.enumerated().map { index, change in
        LiveMessage(change, topic, rule: changes.rule, at: time &+ Int64(index))
      }
    case .payload(let bytes, let user, let audience):
      let about = LiveMessage.About(audience: audience, isNotice: false, from: .user(user))
      return [LiveMessage(time: time, collection: topic, about: about, payload: bytes)]
    }
  }
}

extension LiveAnnouncement.Content {
  /// How many times it takes.
  package var count: Int {
    switch self {
    case .changes(let changes): changes.isCut ? 1 : changes.list.count
    case .payload: 1
    }
  }
}

extension LiveMessage {
  fileprivate init(
    _ change: LiveChange, _ collection: String, rule: Permissions.Rule, at time: Int64
  ) {
    var isNotice = true
    let payload: [UInt8]
    switch change.what {
    case .create(let body) where body.count <= LiveBroker.maxBytes,
      .update(let body) where body.count <= LiveBroker.maxBytes:
      isNotice = false
      payload = body
    case .create, .update: payload = LiveWire.notice(change.id, at: nil)
    case .delete(let moment), .revoke(let moment): payload = LiveWire.notice(change.id, at: moment)
    }
    let about = About(
      audience: Audience(rule, change.acl, except: change.others), isNotice: isNotice,
      from: .change(change.what.name))
    self.init(time: time, collection: collection, about: about, payload: payload)
  }
}
