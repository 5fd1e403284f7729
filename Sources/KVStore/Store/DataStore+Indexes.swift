internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Makes finds by these members, in this order, fast. An index of the same name and members is left as it is.
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

  /// The same of a specification as the C interface has it, for indexes of texts and places:
  /// `{"name":"words","keys":{"title":"text"}}`.
  public func createIndex(_ specification: String) async throws(KVStoreError) {
    try await performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.createIndex(specification)
    }
  }

  public func dropIndex(_ name: String) async throws(KVStoreError) {
    try await performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.dropIndex(name)
    }
  }

  public func indexes() async throws(KVStoreError) -> [Index] {
    let indexes = try await performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.indexes()
    }
    return try JSONDecoding.decode([Index].self, from: indexes)
  }
}
