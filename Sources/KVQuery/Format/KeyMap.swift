/// What the names in a predicate are called in the backend. Component by component.
package struct KeyMap: Sendable, Equatable {
  /// The application's own names, top-level.
  package var names: [String: String]

  package init(_ names: [String: String] = [:]) { self.names = names }

  private static let reserved = ["entityId": "_id", "acl": "_acl", "metadata": "_kmd"]
  private static let acl = [
    "readers": "r", "writers": "w", "globalRead": "gr", "globalWrite": "gw",
  ]
  private static let metadata = ["lastModifiedTime": "lmt", "entityCreationTime": "ect"]

  /// The backend's name of a member at the top of an entity, or inside `parent` (a backend's name).
  func name(_ name: String, in parent: String?) -> String {
    switch parent {
    case nil: names[name] ?? KeyMap.reserved[name] ?? name
    case "_acl": KeyMap.acl[name] ?? name
    case "_kmd": KeyMap.metadata[name] ?? name
    default: name
    }
  }
}
