public import CKVStore
internal import KVClient
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
    out.write(try client.adopt(store))
  }
}

@_cdecl("kv_store_reads_locally") @implementation
public func kv_store_reads_locally(_ store: OpaquePointer?) -> Int32 {
  (try? StoreObject.borrow(store))?.core.readsLocally(nil) == true ? 1 : 0
}

@_cdecl("kv_store_writes_locally") @implementation
public func kv_store_writes_locally(_ store: OpaquePointer?) -> Int32 {
  (try? StoreObject.borrow(store))?.core.writesLocally(nil) == true ? 1 : 0
}

@_cdecl("kv_store_close") @implementation
public func kv_store_close(_ store: OpaquePointer?) -> kv_status {
  guard store != nil else { return Status.ok }
  return perform(nil) { () throws(StoreError) in
    try StoreObject.close(store).client.disown(Handle(store))
  }
}
