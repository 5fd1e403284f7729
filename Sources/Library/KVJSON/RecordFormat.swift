internal import KVBase

/// The layout of a backend's records: which of their members are the id, where the version is, and which
/// members are the backend's own. Records are stored and handed out with these members as they are; nothing is
/// rewritten.
///
/// The **key** of a record, by which tables, queues and maps know it, is a text made of its id: a text as it is, an
/// integer in decimal digits, and an id of several members as the compact JSON array of their values.
///
/// Immutable; safe from any thread.
package final class RecordFormat: Sendable {
  /// A member that is the id, or a part of it.
  package struct IDMember: Sendable, Equatable {
    package enum Kind: Sendable, Equatable, BitwiseCopyable {
      /// A string that is not empty, without NUL.
      case text
      /// An integer of 64 bits, without fraction and exponent.
      case integer
    }

    package let name: String
    package let kind: Kind

    package init(_ name: String, _ kind: Kind = .text) { (self.name, self.kind) = (name, kind) }
  }

  /// Other names for one of the backend's members and for those inside of it, which predicates may use.
  package struct Alias: Sendable, Equatable {
    package let name: String
    package let member: String
    /// Maps other names to those of the backend.
    package let inner: [String: String]

    package init(_ name: String, for member: String, inner: [String: String] = [:]) {
      (self.name, self.member, self.inner) = (name, member, inner)
    }
  }

  /// Never empty; in the order in which their values stand in a key.
  package let id: [IDMember]
  /// The names that lead to the version from the top of a record; empty: records have none.
  package let version: [String]
  package let versionOrder: VersionOrder
  /// Whether versions are times of the backend, so that a moment of its clock compares with them.
  package let versionsAreTimes: Bool
  /// Whether the backend never takes a version back, not even where it is restored from a backup: what comes with an older
  /// one than is here, such as from a replica of the backend that is late, is dropped.
  package let versionsOnlyRise: Bool
  /// The member that says when the backend stored a record, in milliseconds, where its versions do not; nil: none does.
  package let changeTime: String?
  /// The members that the backend makes, that of the version among them: they are no content of the record.
  package let backendMembers: [String]
  /// The member that says who may do what, an object; nil: none does. No content, but an application may set it.
  package let permissions: String?
  /// The member of the permissions that names who made the record; nil: none does.
  package let creator: String?
  package let aliases: [Alias]
  /// Whether a record that has no id is given one here.
  package let makesIDs: Bool
  private let reserved: ReservedMembers
  /// The scanner's table of reserved members; a copy, so that it need not follow a reference.
  let table: ReservedMembers.Table
  let guess: ReservedMembers.Guess

  /// Names are not checked here: see `checked`. `makesIDs`: only an id that is one text is ever made here.
  package init(
    id: [IDMember] = [IDMember("id")], version: [String] = [],
    versionOrder: VersionOrder = .unordered, versionsAreTimes: Bool = false,
    versionsOnlyRise: Bool = false, changeTime: String? = nil, backendMembers: [String] = [],
    permissions: String? = nil, creator: String? = nil, aliases: [Alias] = [], makesIDs: Bool = true
  ) {
    self.id = id
    self.version = version
    self.versionOrder = versionOrder
    self.versionsAreTimes = versionsAreTimes
    self.versionsOnlyRise = versionsOnlyRise
    self.changeTime = changeTime
    let isListed = version.first.map { top in
      backendMembers.contains { $0.utf8.elementsEqual(top.utf8) }
    }
    self.backendMembers = isListed == false ? version.prefix(1) + backendMembers : backendMembers
    self.permissions = permissions
    self.creator = creator
    self.aliases = aliases
    self.makesIDs = makesIDs && id.count == 1 && id[0].kind == .text
    reserved = ReservedMembers(
      id: id, permissions: permissions, backend: self.backendMembers, version: version,
      order: versionOrder)
    (table, guess) = (reserved.table, reserved.guess)
  }

  /// The names of all members that are no content: of the id, of the permissions, and the backend's own.
  package var reservedNames: [String] { reserved.names }

  /// Whether a member of this name is no content.
  package func isReserved(_ name: String) -> Bool {
    reservedNames.contains { $0.hasSameBytes(as: name) }
  }

  /// Whether the name at a range of a text is reserved.
  package func isReserved(_ name: Range<Int>, in scanner: ByteScanner) -> Bool {
    table.index(of: name, in: scanner) != nil
  }

  /// Whether the id is one text.
  package var hasTextID: Bool { id.count == 1 && id[0].kind == .text }

  /// Whether a version is known to be older than another one.
  package func isOlder(_ version: RecordVersion, than other: RecordVersion) -> Bool {
    versionOrder.isOlder(version, than: other)
  }

  /// The id in words for a message: `_id`, or `tenant, number`.
  package var idText: String { id.map(\.name).joined(separator: ", ") }
}

extension RecordFormat: Equatable {
  package static func == (left: RecordFormat, right: RecordFormat) -> Bool {
    left === right
      || (left.id == right.id && left.version == right.version
        && left.versionOrder == right.versionOrder
        && left.versionsAreTimes == right.versionsAreTimes
        && left.versionsOnlyRise == right.versionsOnlyRise
        && left.backendMembers == right.backendMembers && left.permissions == right.permissions
        && left.creator == right.creator && left.aliases == right.aliases
        && left.makesIDs == right.makesIDs)
  }
}
