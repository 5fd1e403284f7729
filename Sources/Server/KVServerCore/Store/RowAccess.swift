/// What a rule lets a user do with the entities of a collection, by their access lists.
package struct RowAccess: Sendable {
  package let rule: Permissions.Rule
  /// Whether it is about writing: then only writers' lists count.
  package let isWriting: Bool
  package let user: String

  package init(rule: Permissions.Rule, isWriting: Bool = false, user: String) {
    self.rule = rule
    self.isWriting = isWriting
    self.user = user
  }

  /// The same where the entity has to be readable as well, by a rule for reading. Who may write by an access list may read by it.
  func also(_ reading: Permissions.Rule) -> RowAccess {
    switch (rule, reading) {
    case (.never, _), (_, .never): RowAccess(rule: .never, user: user)
    case (_, .always): self
    case (.always, _): RowAccess(rule: reading, user: user)
    case (.creator, _), (_, .creator): RowAccess(rule: .creator, user: user)
    case (.acl, .acl), (.acl, .shared), (.shared, .acl), (.shared, .shared): self
    }
  }

  /// Everything.
  package static let unrestricted = RowAccess(rule: .always, user: "")

  /// A condition on an entity's access list; each is enough.
  package enum Way: Sendable {
    case isCreator
    /// `gr` is true.
    case everybodyReads
    /// `gr` is not false.
    case nobodySaysNo
    /// `gw` is true.
    case everybodyWrites
    /// The list, or a group of it, names the user.
    case isReader
    case isWriter
  }

  /// By what an entity is open to the user: by any of these. Nil: everything is.
  package var ways: [Way]? {
    switch rule {
    case .always: nil
    case .never: []
    case .creator: [.isCreator]
    case .acl where isWriting, .shared where isWriting: [.isCreator, .everybodyWrites, .isWriter]
    case .acl: Self.named
    case .shared: [.nobodySaysNo] + Self.named
    }
  }

  private static let named: [Way] = [
    .isCreator, .everybodyReads, .everybodyWrites, .isReader, .isWriter,
  ]
}
