internal import KVBase
internal import KVJSON

/// Maps the names in a predicate to those of the backend. Component by component.
package struct KeyMap: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// The application's own names, top-level.
  private var names: [RecordID: RecordID] = [:]

  /// No name is another one in the backend.
  package init() {}

  package init(dictionaryLiteral names: (String, String)...) {
    for (name, other) in names { self[name] = other }
  }

  package var isEmpty: Bool { names.isEmpty }

  /// The backend's name for one of the application's own; nil if it is the same.
  package subscript(_ name: String) -> String? {
    get { names[RecordID(name)]?.text }
    set { names[RecordID(name)] = newValue.map { RecordID($0) } }
  }

  // These names are words of ours: no other text is equal to one of them.
  private static let aliases = RecordFormat.default.aliases

  /// The backend's name of a member at the top of an entity, or inside `parent` (a backend's name).
  func name(_ name: String, in parent: String?) -> String {
    guard let parent else {
      return self[name] ?? KeyMap.aliases.first { $0.name == name }?.member ?? name
    }
    return KeyMap.aliases.first { $0.member == parent }?.inner[name] ?? name
  }

  /// The backend's path for one in these names.
  func path(_ path: Path) -> Path {
    var parts: [String] = []
    for (index, part) in path.text.parts(between: ".").enumerated() {
      let name = String(part)
      parts.append(index < 2 ? self.name(name, in: parts.first) : name)
    }
    return Path(parts.joined(separator: "."))
  }

  /// Replaces the application's own names only, which stand at the top of an entity.
  package func renamed(_ path: Path) -> Path {
    let parts = path.text.parts(between: ".").map(String.init)
    guard let first = parts.first, let name = self[first] else { return path }
    return Path(([name] + parts.dropFirst()).joined(separator: "."))
  }
}
