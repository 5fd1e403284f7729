package import KVBase

/// Keeps the histories of Live Service across restarts.
package protocol LiveHistoryStore: Sendable {
  /// The messages of an app, as far as a history keeps them. `now`: since when everything is known if there are none.
  func history(of app: Int64, at now: Timestamp) throws(ServerError) -> LiveHistory
  /// Forgets what a history has forgotten, up to a time.
  func forget(_ app: Int64, until floor: Int64) throws(ServerError)
}
