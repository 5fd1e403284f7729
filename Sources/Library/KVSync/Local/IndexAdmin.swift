package import KVQuery

/// The indexes of the collections, and how they serve a query. Safe from any thread; durable when a call returns.
package protocol IndexAdmin: AnyObject, Sendable {
  /// Makes an index and fills it, in several transactions: it is used when all entities are in it. One that is
  /// there already is left as it is, or filled to its end; with other keys it is `.invalid`.
  func createIndex(_ spec: IndexSpec, in collection: String) throws(StoreError)

  /// Drops an index; false if no index has this name.
  func dropIndex(_ name: String, in collection: String) throws(StoreError) -> Bool

  func indexes(in collection: String) throws(StoreError) -> [StoredIndex]

  /// Runs a find to see how it is carried out.
  func explain(_ query: Query, in collection: String) throws(StoreError) -> Explanation
}

extension IndexAdmin {
  /// Throws `.unsupported`: the store has no indexes.
  package func createIndex(_ spec: IndexSpec, in collection: String) throws(StoreError) {
    throw StoreError(.unsupported, "This store has no indexes.")
  }

  package func dropIndex(_ name: String, in collection: String) throws(StoreError) -> Bool { false }

  package func indexes(in collection: String) throws(StoreError) -> [StoredIndex] { [] }

  package func explain(_ query: Query, in collection: String) throws(StoreError) -> Explanation {
    throw StoreError(.unsupported, "This store cannot explain queries.")
  }
}
