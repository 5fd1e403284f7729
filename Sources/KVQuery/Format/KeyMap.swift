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

  /// The backend's path for one in these names.
  func path(_ path: Path) -> Path {
    var parts: [String] = []
    for (place, part) in path.text.parts(between: ".").enumerated() {
      let name = String(part)
      parts.append(place < 2 ? self.name(name, in: parts.first) : name)
    }
    return Path(parts.joined(separator: "."))
  }

  /// Only the application's own names are replaced, which stand at the top of an entity.
  package func renamed(_ path: Path) -> Path {
    let parts = path.text.parts(between: ".").map(String.init)
    guard let first = parts.first, let name = names[first] else { return path }
    return Path(([name] + parts.dropFirst()).joined(separator: "."))
  }
}
