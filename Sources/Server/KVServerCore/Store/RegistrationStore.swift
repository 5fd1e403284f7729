/// The registrations and subscriptions of live data, stored so that polls continue after a restart.
package protocol RegistrationStore: Sendable {
  /// All registrations and subscriptions, in the order in which they were made.
  func all() throws(ServerError) -> [LiveRegistration]

  /// Forgets the devices that were registered in sessions which have ended since: where the server ended in between.
  /// Those without a time of their last contact – of an older version – get the present one.
  func forgetEnded(at now: Int64) throws(ServerError)

  /// Forgets the devices of all apps that were seen before a moment.
  func forget(seenBefore moment: Int64) throws(ServerError)

  /// Records a subscription.
  func add(_ subscription: LiveRegistration) throws(ServerError)

  /// Records a registration, or that it belongs to another session now.
  func register(
    _ device: String, of user: String, app: Int64, session token: String, at now: Int64
  ) throws(ServerError)

  /// Records that something came from a device.
  func recordActivity(
    _ device: String, of user: String, app: Int64, seen now: Int64
  ) throws(ServerError)

  /// The devices of a user that were registered in these sessions.
  func devices(
    of user: String, app: Int64, in sessions: SessionSubset
  ) throws(ServerError) -> [String]

  /// The users who have subscribed to a collection or a stream.
  func users(of collection: String, app: Int64) throws(ServerError) -> [String]

  func remove(_ subscription: LiveRegistration) throws(ServerError)
  func remove(device: String, of user: String, app: Int64) throws(ServerError)
  func removeAll(of user: String, app: Int64) throws(ServerError)

  /// Takes all devices of a user out of a collection or a stream.
  func removeAll(of user: String, app: Int64, collection: String) throws(ServerError)
}

/// Whom the users let into their streams.
package protocol StreamStore: Sendable {
  /// The ACL of a substream; nil: its owner has never set one.
  func acl(of stream: LiveStream, app: Int64) throws(ServerError) -> LiveStreamACL?

  /// The owners of a stream's substreams with their ACLs, in the order of their ids.
  func acls(
    of name: String, app: Int64
  ) throws(ServerError) -> [(owner: String, acl: LiveStreamACL)]

  /// False: the owner has too many: `LiveStream.maxPerUser`.
  func set(_ acl: LiveStreamACL, of stream: LiveStream, app: Int64) throws(ServerError) -> Bool

  func removeAll(of owner: String, app: Int64) throws(ServerError)
}
