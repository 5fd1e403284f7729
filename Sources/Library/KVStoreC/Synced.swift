public import CKVStore
internal import KVClient
internal import KVSync

@_cdecl("kv_client_start_sync") @implementation
public func kv_client_start_sync(_ client: OpaquePointer?, _ errorOut: HandleOut?) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    try ClientObject.borrow(client).core.startSync()
  }
}

@_cdecl("kv_client_stop_sync") @implementation
public func kv_client_stop_sync(_ client: OpaquePointer?, _ errorOut: HandleOut?) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    try ClientObject.borrow(client).core.stopSync()
  }
}

@_cdecl("kv_client_clear") @implementation
public func kv_client_clear(
  _ client: OpaquePointer?, _ discardPending: Int32, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let client = try ClientObject.borrow(client)
    try client.during { () throws(StoreError) in
      try client.core.clear(discardingPending: discardPending != 0)
    }
  }
}

@_cdecl("kv_client_set_sync_expression") @implementation
public func kv_client_set_sync_expression(
  _ client: OpaquePointer?, _ collection: CString?, _ filter: CString?, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let client = try ClientObject.borrow(client)
    let collection = try text(collection, named: "collection")
    try client.core.setSyncExpression(
      try optionalText(filter, named: "filter_json"), of: collection)
  }
}
