package import KVBase

extension Predicate {
  /// The predicate in which the conditions on some members are replaced by whether an entity meets them. `{"n":{"$gt":4},
  /// "state":"open"}`, where `n` is decided by `{"n":5}`, leaves `{"state":"open"}`. Words and computed values are not
  /// decided: what they are about may be any member. Parts that always hold are left out.
  package func deciding(
    _ members: Set<RecordID>, by entity: [UInt8]
  ) throws(QueryError) -> Predicate {
    switch self {
    case .everything, .nothing, .text, .comparison: return self
    case .and(let parts): return .all(try Self.deciding(parts, members, by: entity))
    case .or(let parts): return .any(try Self.deciding(parts, members, by: entity))
    case .nor(let parts):
      return Predicate.any(try Self.deciding(parts, members, by: entity)).negated
    case .field(let path, _):
      guard members.contains(RecordID(path.top.text)) else { return self }
      return try Query(self).matcher?.matches(entity) ?? true ? .everything : .nothing
    }
  }

  private static func deciding(
    _ parts: [Predicate], _ members: Set<RecordID>, by entity: [UInt8]
  ) throws(QueryError) -> [Predicate] {
    try parts.map { (part) throws(QueryError) in try part.deciding(members, by: entity) }
  }
}
