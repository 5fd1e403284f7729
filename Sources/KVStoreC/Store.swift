public import CKVStore
internal import KVSync

@_cdecl("kv_store_open") @implementation
public func kv_store_open(
  _ client: OpaquePointer?, _ collection: CString?, _ type: CString?, _ storeOptions: CString?,
  _ storeOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(storeOut, named: "store_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let client = try ClientObject.borrow(client)
    let store = try client.openStore(
      text(collection, named: "collection"), type: text(type, named: "type"), options(storeOptions))
    out.give(try client.adopt(store))
  }
}

@_cdecl("kv_store_close") @implementation
public func kv_store_close(_ store: OpaquePointer?) -> kv_status {
  guard store != nil else { return Status.ok }
  return perform(nil) { () throws(StoreError) in
    try StoreObject.close(store).client.disown(Handle(store))
  }
}
