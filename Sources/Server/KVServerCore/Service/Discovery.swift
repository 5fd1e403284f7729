/// The members by which users find each other, and those that are shown of a user.
package struct Discovery: Sendable, Equatable {
  /// All that there may be.
  package static let members = ["_id", "username", "first_name", "last_name", "email"]

  /// Empty: users do not find each other.
  package var searchable = members

  /// The members that are shown of a user: those that are searchable, the id and the name.
  package var shown: [String] {
    Self.members.filter { searchable.contains($0) || $0 == "_id" || $0 == "username" }
  }

  package init() {}

  /// Reads `username,email`, or `off`; nil: it is neither.
  package init?(_ text: String) {
    let names = text == "off" ? [] : text.split(separator: ",").map(String.init)
    guard names.allSatisfy(Self.members.contains), text == "off" || !names.isEmpty else {
      return nil
    }
    searchable = names
  }
}
