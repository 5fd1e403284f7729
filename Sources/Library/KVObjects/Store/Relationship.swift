package import KVBase

/// A way from the objects of one collection to those of another one.
package struct Relationship: Sendable, Hashable {
  /// Where the key of the other object is.
  package enum Side: Sendable, Hashable {
    /// In these members of the object that the relationship starts from: it leads to one object.
    case source
    /// In these members of the objects that it leads to.
    case target
  }

  package let name: RecordID
  package let source: RecordID
  package let target: RecordID
  /// The members with the key, one for each part of it.
  package let keys: [String]
  package let side: Side
  package let isToMany: Bool

  package init(
    _ name: String, from source: String, to target: String, keys: [String], at side: Side,
    isToMany: Bool
  ) {
    self.name = RecordID(name)
    self.source = RecordID(source)
    self.target = RecordID(target)
    self.keys = keys
    self.side = side
    self.isToMany = isToMany
  }
}
