public import CKVStore
internal import KVCallback
internal import KVJSON
internal import KVObjects
internal import KVSync

@_cdecl("kv_store_type_register") @implementation
public func kv_store_type_register(
  _ name: CString?, _ description: CString?, _ length: Int,
  _ functions: UnsafePointer<kv_store_type>?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let store: CallbackStore
    do throws(StoreError) {
      let known = try BackendDescription(
        JSONArgument(description, length, named: "description_json").optionalObject() ?? [:])
      let registered = try text(name, named: "name")
      let table = try storeTable(functions)
      store = CallbackStore(
        registered, known,
        handler: HostBackend(
          table.functions, cancel: table.cancel, context, freeContext,
          requestsAtOnce: known.requestsAtOnce))
    } catch {
      freeContext?(context)
      throw error
    }
    // From here on the context is freed with `store`.
    try store.register()
  }
}

@_cdecl("kv_store_type_unregister") @implementation
public func kv_store_type_unregister(_ name: CString?, _ errorOut: HandleOut?) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    try CallbackStore.unregister(try text(name, named: "name"))
  }
}

@_cdecl("kv_store_type_announce") @implementation
public func kv_store_type_announce(
  _ name: CString?, _ changes: CString?, _ length: Int, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    try CallbackStore.announce(
      JSONArgument(changes, length, named: "changes_json").optionalValue(),
      of: try text(name, named: "name"))
  }
}

private func storeTable(
  _ functions: UnsafePointer<kv_store_type>?
) throws(StoreError) -> (
  functions: [BackendOperation: kv_backend_fn], cancel: kv_backend_cancel_fn?
) {
  guard let functions else { throw missing("functions") }
  let table = copy(functions, size: functions.pointee.size, kv_store_type())
  guard let load = table.load, let fetch = table.fetch, let values = table.values,
    let save = table.save
  else {
    throw StoreError(.invalid, "A store must have the functions load, fetch, values and save.")
  }
  var found: [BackendOperation: kv_backend_fn] = [
    .load: load, .fetch: fetch, .fetchIDs: values, .save: save,
  ]
  found[.relationship] = table.relationship
  found[.obtainIDs] = table.obtain_ids
  return (found, table.cancel)
}
