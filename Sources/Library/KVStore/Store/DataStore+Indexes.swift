internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Creates an index for finds by these members, in this order. If the same index exists, the call does nothing.
  ///
  ///     try await people.createIndex(on: [\.city, \.age])
  ///
  /// `collatedBy`: the language whose order texts have in the index, such as `"de"`, for queries with the same
  /// `collated(by:ignoringCase:ignoringAccents:)`.
  public func createIndex(
    on keyPaths: [PartialKeyPath<Entity>], name: String? = nil, collatedBy locale: String? = nil,
    ignoringCase: Bool = false, ignoringAccents: Bool = false
  ) async throws(KVStoreError) {
    var keys = JSONObject()
    for keyPath in keyPaths { keys[try MemberTable<Entity>.shared.name(of: keyPath)] = 1 }
    var spec: JSONObject = ["keys": .object(keys)]
    spec.set("name", name)
    if let locale {
      spec["collation"] = [
        "locale": .string(locale), "ignoreCase": .bool(ignoringCase),
        "ignoreAccents": .bool(ignoringAccents),
      ]
    }
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
