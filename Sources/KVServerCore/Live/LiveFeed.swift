/// Where a store brings what was committed, in the order of the commits. Safe from any thread.
///
/// A store that one server uses alone takes the times of messages from here: it calls `prepare` inside the transaction, as
/// its last step, and `publish` or `withdraw` after it. One that several servers share gives the times itself, since
/// they have to follow the commits of all, and only calls `publish`, on each server.
package protocol LiveFeed: Sendable {
  /// Whether somebody listens to a collection or a stream here.
  func hasListeners(of topic: String, in app: Int64) -> Bool

  /// A time that no message has or will have; nil: there is no such app.
  func moment(in app: Int64) -> Int64?

  /// Reserves times for what a transaction is about to commit; nil: there is no such app.
  func prepare(
    _ content: LiveAnnouncement.Content, for topic: String, of app: Int64
  ) -> LiveAnnouncement?

  /// Tells those who listen.
  func publish(_ announcement: LiveAnnouncement)

  /// The transaction has not committed.
  func withdraw(_ announcement: LiveAnnouncement)
}

/// The brokers of all apps, by the numbers of these.
struct LiveBrokers: LiveFeed {
  let all: [Int64: LiveBroker]

  init(_ brokers: [Int64: LiveBroker]) { all = brokers }

  func hasListeners(of topic: String, in app: Int64) -> Bool {
    all[app]?.hasListeners(of: topic) ?? false
  }

  func moment(in app: Int64) -> Int64? { all[app]?.moment() }

  func prepare(
    _ content: LiveAnnouncement.Content, for topic: String, of app: Int64
  ) -> LiveAnnouncement? {
    all[app]?.prepare(content, for: topic, of: app)
  }

  func publish(_ announcement: LiveAnnouncement) { all[announcement.app]?.publish(announcement) }
  func withdraw(_ announcement: LiveAnnouncement) { all[announcement.app]?.withdraw(announcement) }
}
