internal import KVBase
package import KVJSON
package import KVObjects
package import KVSync

extension Client {
  /// Opens a working copy of objects. `options`: see kv_context_open.
  package func objectContext(_ options: JSONObject?) throws(StoreError) -> ObjectContext {
    var reader = OptionReader(options ?? [:])
    let chosen = try ObjectStoreSelection(&reader)
    var behaviour = ContextOptions()
    if let policy = try reader.string("mergePolicy") {
      behaviour.mergePolicy = try MergePolicy(named: policy)
    }
    behaviour.batchSize =
      try reader.integer("fetchBatchSize", 1...100_000) ?? behaviour.batchSize
    behaviour.cacheBytes = try reader.integer("cacheBytes", 0...1 << 40) ?? behaviour.cacheBytes
    if let relationships = try reader.members("relationships") {
      behaviour.relationships = try ContextOptions.relationships(relationships)
    }
    try reader.finish()
    return try ObjectContext(try objects(chosen), behaviour)
  }

  /// The store that a context has chosen: by default the one that the client was opened with.
  private func objects(_ chosen: ObjectStoreSelection) throws(StoreError) -> any ObjectStore {
    let own = options.store
    let name = chosen.store ?? own?.name ?? ObjectStoreRegistry.local
    guard name.hasSameBytes(as: ObjectStoreRegistry.local) else {
      return try customObjects(name, chosen)
    }
    if let own {
      throw StoreError(.invalid, "The data of this client is in the store \"\(own.name)\".")
    }
    guard chosen.storeOptions == nil else {
      throw StoreError(.invalid, "The option \"storeOptions\" is for stores of another type.")
    }
    return try LocalObjectStore(self, type: chosen.type ?? .sync, tag: chosen.tag ?? options.tag)
  }

  /// A custom store. It reads like the client's, except for its own options.
  private func customObjects(
    _ name: String, _ chosen: ObjectStoreSelection
  ) throws(StoreError) -> any ObjectStore {
    guard chosen.tag == nil, chosen.store == nil || chosen.type == nil else {
      throw StoreError(.invalid, "The options \"type\" and \"tag\" are for the local data.")
    }
    var location = options.location
    if let storeOptions = chosen.storeOptions { location.options = storeOptions }
    if let own = options.store, name.hasSameBytes(as: own.name) {
      return try own.objects(location)
    }
    guard let factory = ObjectStoreRegistry.shared.factory(name) else {
      throw StoreError(.invalid, "There is no type of stores with the name \"\(name)\".")
    }
    return try factory(location)
  }
}

/// Which store a context is opened with: the options `store`, `storeOptions`, `type` and `tag`.
private struct ObjectStoreSelection {
  /// Nil: none was named.
  let store: String?
  let storeOptions: JSONObject?
  let type: StoreType?
  let tag: String?

  init(_ reader: inout OptionReader) throws(StoreError) {
    store = try reader.string("store")
    storeOptions = try reader.members("storeOptions")
    type = try reader.string("type").map { (name) throws(StoreError) in
      try StoreType(named: name)
    }
    tag = try ClientOptions.tag(&reader)
  }
}
