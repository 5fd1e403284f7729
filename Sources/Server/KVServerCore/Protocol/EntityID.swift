internal import KVBase

/// The rules for the text of an `_id`.
enum EntityID {
  /// The creator of entities that the administrator creates. No user has this id.
  static let administrator = "master"

  /// An id must fit into a path: it has no control characters, no path means something else by it, and it is no
  /// operation on a collection.
  static func check(_ id: String) throws(ServerError) {
    let isText =
      !id.isEmpty && id.utf8.count <= 255 && id.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    guard isText, !isDots(id), !isOperation(id) else {
      throw ServerError(
        .invalidIdentifier,
        "an _id must have 1 to 255 bytes and no control characters, and must not be an operation, . or .."
      )
    }
  }

  /// A user's id must moreover have no other meaning: it is neither the administrator's nor an operation on users, today or
  /// in a later version. Operations start with an underscore, except `login`.
  static func check(user id: String) throws(ServerError) {
    try check(id)
    let isReserved =
      id.utf8.first == underscore || isAdministrator(id)
      || Route(["user", "-", id]) != .user(app: "-", id: id)
    guard !isReserved else {
      throw ServerError(
        .invalidIdentifier, "this _id is reserved; no user can have it")
    }
  }

  private static let underscore = UInt8(ascii: "_")

  private static func isAdministrator(_ id: String) -> Bool {
    id.hasSameBytes(as: administrator)
  }

  /// Clients and proxies take these out of paths.
  private static func isDots(_ id: String) -> Bool {
    id.utf8.count <= 2 && id.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
  }

  private static func isOperation(_ id: String) -> Bool {
    guard id.utf8.first == underscore else { return false }
    if case .entity = Route(["appdata", "-", "-", id]) { return false }
    return true
  }
}
