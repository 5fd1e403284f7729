internal import KVJSON
package import KVQuery

extension CollectionEngine {
  /// The query that selects, in the collection that a relation leads to, what it leads to from a record. Of a relation by
  /// keys in this record or in joining ones, that is what they say now.
  ///
  /// `.notFound` if the record has to be read and is not here. `layout`: of all collections.
  package func related(
    to id: String, by relation: RecordRelation, _ layout: RecordLayout
  ) throws(StoreError) -> Query {
    try Self.checked(id)
    let format = layout.format(of: relation.collection)
    switch relation.link {
    case .referrers(let keys): return Query(RecordRelation.holding(id, in: keys, self.format))
    case .reference(let keys):
      let local = try localStore(for: "follow a relation")
      guard let record = try local.entity(id, in: collection, writtenSince: nil) else {
        throw notFound(id)
      }
      let other = try RecordRelation.id(heldBy: record, in: keys, format)
      return Query(.keys(other.map { [$0] } ?? [], format))
    case .join(let join, let keys, let others):
      let local = try localStore(for: "follow a relation")
      let query = Query(RecordRelation.holding(id, in: keys, self.format))
      let cursor = try local.find(query, in: join, writtenSince: nil)
      defer { cursor.close() }
      var ids: [String] = []
      while let record = try cursor.next({ Array($0) }) {
        if let other = try RecordRelation.id(heldBy: record, in: others, format) {
          ids.append(other)
        }
      }
      return Query(.keys(ids, format))
    }
  }
}
