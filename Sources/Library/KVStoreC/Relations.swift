public import CKVStore
internal import KVClient
internal import KVQuery
internal import KVSync

@_cdecl("kv_store_related") @implementation
public func kv_store_related(
  _ store: OpaquePointer?, _ id: CString?, _ relation: CString?, _ filterOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(filterOut, lengthOut, named: "filter_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let (id, relation) = (try text(id, named: "id"), try text(relation, named: "relation"))
    try out.write(
      during(store) { (core) throws(StoreError) in
        Array(try core.related(to: id, by: relation).filterText.utf8)
      })
  }
}

@_cdecl("kv_schema_describe") @implementation
public func kv_schema_describe(
  _ schema: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let text = try text(schema, named: "schema")
    try out.write(Array(try ClientModels.description(of: text).utf8))
  }
}
