/// A collection of an app, by its name. It need not exist.
package struct CollectionKey: Sendable {
  package let app: Int64
  package let name: String

  package init(app: Int64, name: String) {
    self.app = app
    self.name = name
  }

  /// The collection that holds an app's users. Clients' collections do not start with an underscore.
  package static func users(of app: Int64) -> CollectionKey {
    CollectionKey(app: app, name: "_users")
  }

  /// The collection that holds an app's groups of users.
  package static func groups(of app: Int64) -> CollectionKey {
    CollectionKey(app: app, name: "_groups")
  }

  /// The collection that holds what is said about an app's files.
  package static func files(of app: Int64) -> CollectionKey {
    CollectionKey(app: app, name: filesName)
  }

  private static let filesName = "_files"

  /// Who may do what in one of the server's own.
  package var ownPermissions: Permissions {
    name == Self.filesName ? .filesByACL : .sharedByACL
  }

  /// Whether it is one of the server's own, which clients cannot name.
  package var isOwn: Bool { name.utf8.first == UInt8(ascii: "_") }
}
