package import KVJSON
package import KVQuery

/// How records of one collection lead to those of another: by a member, or members, that hold an id.
package struct RecordRelation: Sendable, Equatable {
  package enum Link: Sendable, Equatable {
    /// The record holds the id of the other one in these members, one for each part of the id.
    case reference([String])
    /// Others hold the record's id in these members.
    case referrers([String])
    /// Records of `join` hold the record's id in `keys`, and the id of the other one in `others`.
    case join(String, keys: [String], others: [String])
  }

  package let name: String
  /// Where it leads.
  package let collection: String
  package let link: Link
  /// Whether what it leads to is removed with the record; of a `join` that is the joining records.
  package let isOwner: Bool

  package init(name: String, collection: String, link: Link, isOwner: Bool) {
    (self.name, self.collection) = (name, collection)
    (self.link, self.isOwner) = (link, isOwner)
  }

  /// The collection whose records are removed with a record.
  package var owned: String {
    if case .join(let join, _, _) = link { join } else { collection }
  }

  /// The condition that a record holds an id of the format in its members; it holds for none if `id` is no such id.
  package static func holding(
    _ id: String, in keys: [String], _ format: RecordFormat
  ) -> Predicate {
    guard let values = format.values(ofKey: id), values.count == keys.count else { return .nothing }
    let parts = zip(keys, values).map { Predicate.field(Path($0), [.equal($1)]) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  /// The id of the format that a record holds in its members; nil: none.
  package static func id(
    heldBy record: [UInt8], in keys: [String], _ format: RecordFormat
  ) throws(StoreError) -> String? {
    guard let object = try JSONValue.ifValid(record)?.objectValue else { return nil }
    return format.key(of: keys.map { object[$0] ?? .null })
  }
}
