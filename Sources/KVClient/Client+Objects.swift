internal import KVBase
package import KVJSON
package import KVObjects
package import KVSync

extension Client {
  /// Opens a working copy of objects. `options`: see kv_context_open.
  package func objectContext(_ options: JSONObject?) throws(StoreError) -> ObjectContext {
    var reader = OptionReader(options ?? [:])
    var behaviour = ContextOptions()
    let name = try reader.string("store") ?? ObjectStoreRegistry.local
    let storeOptions = try reader.members("storeOptions")
    let type = try reader.string("type").map { (name) throws(StoreError) in
      try StoreType(named: name)
    }
    let tag = try ClientOptions.tag(&reader)
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
    guard name.hasSameBytes(as: ObjectStoreRegistry.local) else {
      guard type == nil, tag == nil else {
        throw StoreError(.invalid, "The options \"type\" and \"tag\" are for the local data.")
      }
      guard let factory = ObjectStoreRegistry.shared.factory(name) else {
        throw StoreError(.invalid, "There is no type of stores with the name \"\(name)\".")
      }
      return try ObjectContext(try factory(storeOptions ?? [:]), behaviour)
    }
    guard storeOptions == nil else {
      throw StoreError(.invalid, "The option \"storeOptions\" is for stores of another type.")
    }
    let store = try LocalObjectStore(
      self, type: type ?? .sync, tag: tag ?? self.options.tag)
    return try ObjectContext(store, behaviour)
  }
}
