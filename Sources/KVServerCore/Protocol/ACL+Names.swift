/// Whom an access list names, as stores keep it: ids of users, and ids of groups, each with a mark in front.
extension ACL {
  /// The character that tells ids of groups from those of users. No id has it.
  package static let groupMark = "\u{1}"

  /// The readers: users, and groups with the mark in front.
  package var readerNames: [String] { Self.names(readers, groups: groupReaders) }
  package var writerNames: [String] { Self.names(writers, groups: groupWriters) }

  /// The group that a name stands for; nil: it is a user's.
  package static func group(in name: String) -> String? {
    name.utf8.first == groupMark.utf8.first ? String(Substring(name.utf8.dropFirst())) : nil
  }

  /// The groups that it names, of an entity or of what a store keeps of one: there they are among the users.
  package var groups: [String] {
    groupReaders + groupWriters + (readers + writers).compactMap { Self.group(in: $0) }
  }

  /// The same list with the members of groups among the users. `members` gives those of a group.
  package func resolvingGroups(_ members: (String) -> [String]) -> ACL {
    var resolved = self
    resolved.readers = Self.users(readers, groupReaders, members: members)
    resolved.writers = Self.users(writers, groupWriters, members: members)
    return resolved
  }

  private static func names(_ users: [String], groups: [String]) -> [String] {
    users.filter { group(in: $0) == nil } + groups.map { groupMark + $0 }
  }

  private static func users(
    _ names: [String], _ groups: [String], members: (String) -> [String]
  ) -> [String] {
    let named = names.compactMap { group(in: $0) } + groups
    return names.filter { group(in: $0) == nil } + named.flatMap(members)
  }
}
