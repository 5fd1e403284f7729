internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Creates an index for finds by these members, in this order. If the same index exists, the call does nothing.
  ///
  ///     try await people.createIndex(on: [\.city, \.age])
  public func createIndex(
    on keyPaths: [PartialKeyPath<Entity>], name: String? = nil
  ) async throws(KVStoreError) {
    var keys = JSONObject()
    for keyPath in keyPaths { keys[try MemberTable<Entity>.shared.name(of: keyPath)] = 1 }
    var spec: JSONObject = ["keys": .object(keys)]
    spec.set("name", name)
    try await createIndex(spec.text)
  }

  /// Creates an index from a specification of the C interface, for indexes of texts and points:
  /// `{"name":"words","keys":{"title":"text"}}`.
  public func createIndex(_ specification: String) async throws(KVStoreError) {
    try await performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.createIndex(specification)
    }
  }

  /// Drops an index. Throws `.notFound` if there is none with this name.
  public func dropIndex(_ name: String) async throws(KVStoreError) {
    try await performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.dropIndex(name)
    }
  }

  /// Lists the indexes of the collection.
  public func indexes() async throws(KVStoreError) -> [Index] {
    let indexes = try await performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.indexes()
    }
    return try JSONDecoding.decode([Index].self, from: indexes)
  }
}
