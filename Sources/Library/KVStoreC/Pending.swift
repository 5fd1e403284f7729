public import CKVStore
internal import KVClient
internal import KVSync

@_cdecl("kv_store_sync_count") @implementation
public func kv_store_sync_count(
  _ store: OpaquePointer?, _ countOut: CountOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    out.write(try during(store) { (core) throws(StoreError) in try core.pendingCount() })
  }
}

@_cdecl("kv_store_pending") @implementation
public func kv_store_pending(
  _ store: OpaquePointer?, _ after: CString?, _ limit: UInt32, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let after = try optionalText(after, named: "after")
    try out.write(
      during(store) { (core) throws(StoreError) in
        try core.pending(after: after, limit: Int(limit))
      })
  }
}

@_cdecl("kv_store_pending_get") @implementation
public func kv_store_pending_get(
  _ store: OpaquePointer?, _ id: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let id = try text(id, named: "id")
    try out.write(during(store) { (core) throws(StoreError) in try core.pending(id) })
  }
}

@_cdecl("kv_store_pending_edit") @implementation
public func kv_store_pending_edit(
  _ store: OpaquePointer?, _ id: CString?, _ entity: CString?, _ length: Int,
  _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let id = try text(id, named: "id")
    let entity = try JSONArgument(entity, length, named: "entity_json").bytes()
    try during(store) { (core) throws(StoreError) in try core.editPending(id, entity) }
  }
}

@_cdecl("kv_store_pending_drop") @implementation
public func kv_store_pending_drop(
  _ store: OpaquePointer?, _ id: CString?, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let id = try text(id, named: "id")
    try during(store) { (core) throws(StoreError) in try core.dropPending(id) }
  }
}

@_cdecl("kv_store_pending_revert") @implementation
public func kv_store_pending_revert(
  _ store: OpaquePointer?, _ id: CString?, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let id = try text(id, named: "id")
    try during(store) { (core) throws(StoreError) in try core.revertPending(id) }
  }
}

@_cdecl("kv_store_purge") @implementation
public func kv_store_purge(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ countOut: CountOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut)
  return perform(errorOut) { () throws(StoreError) in
    let query = try QueryObject.optional(query)
    out.write(try during(store) { (core) throws(StoreError) in try core.purge(query) })
  }
}

@_cdecl("kv_store_clear") @implementation
public func kv_store_clear(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ countOut: CountOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut)
  return perform(errorOut) { () throws(StoreError) in
    let query = try QueryObject.optional(query)
    out.write(try during(store) { (core) throws(StoreError) in try core.clear(query) })
  }
}

func storePendingRetry(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, id) = (try StoreObject.borrow(store), try text(id, named: "id"))
  let options = try callOptions(options)
  return Operation(on: store.client) { (running) throws(StoreError) in
    try store.core.retryPending(id, running.run(options))
    return .remote(.nothing)
  }
}

/// Runs something short and local on a store, whose client stays open meanwhile.
func during<R>(
  _ store: OpaquePointer?, _ body: (DataStore) throws(StoreError) -> R
) throws(StoreError) -> R {
  let store = try StoreObject.borrow(store)
  return try store.client.during { () throws(StoreError) in try body(store.core) }
}
