internal import KVJSON
package import KVQuery
package import KVSync

extension DataStore {
  /// `spec`: JSON, see kv_store_create_index.
  package func createIndex(_ spec: String) throws(StoreError) {
    let parsed: IndexSpec
    do throws(QueryError) { parsed = try IndexSpec(parsing: spec) } catch {
      throw StoreError(error)
    }
    try engine.createIndex(parsed.renamed(by: names))
  }

  package func dropIndex(_ name: String) throws(StoreError) { try engine.dropIndex(name) }

  /// A JSON array: see kv_store_indexes.
  package func indexes() throws(StoreError) -> [UInt8] {
    JSONValue.array(try engine.indexes().map(\.json)).bytes
  }

  /// A JSON object: see kv_store_explain.
  package func explain(_ query: Query) throws(StoreError) -> [UInt8] {
    try engine.explain(named(query)).json.bytes
  }
}
