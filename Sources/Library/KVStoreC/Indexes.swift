public import CKVStore
internal import KVClient
internal import KVSync

@_cdecl("kv_store_create_index") @implementation
public func kv_store_create_index(
  _ store: OpaquePointer?, _ spec: CString?, _ length: Int, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let spec = try JSONArgument(spec, length, named: "index_json").text()
    try during(store) { (core) throws(StoreError) in try core.createIndex(spec) }
  }
}

@_cdecl("kv_store_drop_index") @implementation
public func kv_store_drop_index(
  _ store: OpaquePointer?, _ name: CString?, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let name = try text(name, named: "name")
    try during(store) { (core) throws(StoreError) in try core.dropIndex(name) }
  }
}

@_cdecl("kv_store_indexes") @implementation
public func kv_store_indexes(
  _ store: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    try out.write(during(store) { (core) throws(StoreError) in try core.indexes() })
  }
}

@_cdecl("kv_store_explain") @implementation
public func kv_store_explain(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let query = try QueryObject.all(or: query)
    try out.write(during(store) { (core) throws(StoreError) in try core.explain(query) })
  }
}
