package import KVJSON

/// The groups of users of a backend, which access lists can name. A group is an object whose `members` are ids of users.
/// Safe from any thread.
package protocol UserGroups: AnyObject, Sendable {
  /// Makes a group. Not to be repeated when no answer came: there would be two.
  func create(_ group: JSONObject, _ call: Call) throws(StoreError) -> JSONObject

  func read(_ id: String, _ call: Call) throws(StoreError) -> JSONObject

  /// The groups that the user may read.
  func all(_ call: Call) throws(StoreError) -> [JSONObject]

  /// Replaces a group, which was made of one that was read: `.conflict` if the backend has another version of it by now.
  func replace(_ group: JSONObject, id: String, _ call: Call) throws(StoreError) -> JSONObject

  func delete(_ id: String, _ call: Call) throws(StoreError)
}
