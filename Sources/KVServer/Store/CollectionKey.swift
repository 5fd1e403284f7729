/// A collection of an app, by its name. It need not exist.
struct CollectionKey: Sendable {
  let app: Int64
  let name: String

  /// The collection that holds an app's users. Clients' collections do not start with an underscore.
  static func users(of app: Int64) -> CollectionKey { CollectionKey(app: app, name: "_users") }

  /// The collection that holds an app's groups of users.
  static func groups(of app: Int64) -> CollectionKey { CollectionKey(app: app, name: "_groups") }

  /// Whether it is one of the server's own, which clients cannot name.
  var isOwn: Bool { name.utf8.first == UInt8(ascii: "_") }
}
