internal import KVBase

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

  /// Whether it names others than another list does, whichever of the two forms they have.
  package func differs(from other: ACL) -> Bool {
    !creator.hasSameBytes(as: other.creator) || everybodyReads != other.everybodyReads
      || everybodyWrites != other.everybodyWrites
      || Self.allNames(readers, groupReaders) != Self.allNames(other.readers, other.groupReaders)
      || Self.allNames(writers, groupWriters) != Self.allNames(other.writers, other.groupWriters)
  }

  private static func allNames(_ users: [String], _ groups: [String]) -> Set<RecordID> {
    Set((users + groups.map { groupMark + $0 }).map { RecordID($0) })
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
