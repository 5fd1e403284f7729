/// The server's data: everything that outlives it. Safe from any thread.
///
/// Each method of it and of its parts is one transaction, or one consistent read, that begins and ends within the call;
/// a write is durable when it returns. What goes in and comes out are values and bytes: nothing of the caller's runs
/// inside a transaction, so a store may repeat one, and may send those of several threads together.
///
/// Methods block the worker that calls them. Errors are what a client is told; the cause inside the store is for the log.
///
/// Other servers may use the same data. What a store keeps in memory of sessions, permissions and settings must
/// not be older than the server's documentation promises.
package protocol ServerStore: AnyObject, Sendable {
  /// Whether sessions, and single entities, are read quickly enough for a thread that carries connections. If not, only
  /// workers ask the store.
  var isLocal: Bool { get }

  var entities: any ServerEntityStore { get }
  var collections: any CollectionStore { get }
  var indexes: any IndexStore { get }
  /// Nil: indexes are only those that the administrator has added.
  var automaticIndexes: AutomaticIndexes? { get }
  var accounts: any AccountStore { get }
  var sessions: any SessionStore { get }
  var groups: any UserGroupStore { get }
  var registrations: any RegistrationStore { get }
  var streams: any StreamStore { get }
  /// The messages of Live Service that are kept.
  var history: any LiveHistoryStore { get }

  /// Names this data, in hex digits: what was put back from a copy has another epoch, in which everything that clients
  /// remember is void.
  var epoch: String { get }

  /// If the data was put back from a copy: a time in milliseconds. What was written until then was in the copy, unless it was
  /// replaced or deleted before the copy was made. Of several copies, the earliest such time. Nil: it was not put back.
  var restored: Int64? { get }

  /// The number of an app, made the first time.
  func app(_ key: String) throws(ServerError) -> Int64

  /// The keys of the apps that have data.
  func appKeys() throws(ServerError) -> [String]

  /// Brings what is committed from now on to `feed`, and starts the store's own upkeep. To be called once, before the
  /// first write of an entity.
  func start(_ feed: any LivePublisher)

  /// Brings what is committed to an app's data from the last call of `app` on, also before `start`.
  func follow(_ app: Int64)

  /// Returns when the feed has been brought all that had been committed, on any server, before the call.
  func catchUp()

  /// Sends a user's message to those who listen to a stream. Returns its time.
  ///
  /// It is in the history when this returns, and need not survive a power failure.
  func publish(
    _ message: [UInt8], to topic: String, from user: String, audience: Audience, in app: Int64
  ) throws(ServerError) -> Int64

  /// How the store is doing. Does not wait for the data.
  var status: StoreStatus { get }

  /// Throws unless the data can be read.
  func check() throws(ServerError)

  /// Ends upkeep and feed, and writes what is in memory. No other method may be called any more.
  func close()
}
