/// An id to look things up by. Two ids are the same if their bytes are: text that only looks the same,
/// such as a letter with its accent as one character or as two, are equal strings in Swift, but two
/// entities to SQLite and to the backend.
struct EntityKey: Hashable, Sendable {
  let id: String

  init(_ id: String) { self.id = id }

  static func == (left: EntityKey, right: EntityKey) -> Bool {
    left.id.utf8.elementsEqual(right.id.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var id = id
    id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension String {
  /// Whether two ids are the same.
  func isSameId(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
