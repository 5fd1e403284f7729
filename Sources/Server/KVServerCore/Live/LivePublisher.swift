/// Where a store brings what was committed, in the order of the commits. Safe from any thread.
///
/// A store that one server uses alone takes the times of messages from here: it calls `prepare` inside the transaction, as
/// its last step, and `publish` or `withdraw` after it. One that several servers share gives the times itself, since
/// they have to follow the commits of all: on each server it calls `receive` and what follows it, and nothing else.
package protocol LivePublisher: Sendable {
  /// Whether a collection or a stream has subscribers on this server.
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

  // MARK: Of a store that several servers share

  /// Brings an app's messages, in the order of the commits. No message up to `position` comes any more, and none up to
  /// `floor` is known.
  func receive(_ messages: [LiveMessage], until position: Int64, floor: Int64, in app: Int64)

  /// Says what a user listens to now.
  func replaceListeners(of user: String, by rows: [LiveRegistration], in app: Int64)

  /// The tokens of the sessions in which polls of a user wait.
  func waitingSessions(of user: String, in app: Int64) -> Set<String>

  /// A session has ended.
  func refuse(session token: String, in app: Int64)
}
