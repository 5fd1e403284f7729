/// A device that listens, or what it listens to.
package struct LiveRegistration: Sendable {
  package var app: Int64
  package var user: String
  package var device: String
  /// The collection, or the topic of a stream. Empty: the registration itself.
  package var collection: String
  /// The session that a registration was made in, as its token is stored.
  package var session: String?
  /// For a registration, when something came from the device last, in milliseconds since 1970, to the hour; nil: not
  /// known.
  package var seen: Int64?

  package init(
    app: Int64, user: String, device: String, collection: String, session: String? = nil,
    seen: Int64? = nil
  ) {
    self.app = app
    self.user = user
    self.device = device
    self.collection = collection
    self.session = session
    self.seen = seen
  }
}
