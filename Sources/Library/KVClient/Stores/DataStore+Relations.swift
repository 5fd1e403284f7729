internal import KVBase
package import KVQuery
package import KVSync

extension DataStore {
  /// The query that selects, in a store of the model that a relation leads to, what it leads to from a record: see
  /// kv_store_related. `.invalid` if the model has no relation of this name.
  package func related(to id: String, by name: String) throws(StoreError) -> Query {
    let relations = context.layout.relations(of: engine.collection)
    guard let relation = relations.first(where: { $0.name.hasSameBytes(as: name) }) else {
      throw StoreError(.invalid, "\(engine.collection) has no relation \"\(name)\".")
    }
    return try engine.related(to: id, by: relation, context.layout)
  }
}
