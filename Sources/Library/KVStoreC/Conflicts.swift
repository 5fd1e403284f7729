public import CKVStore
internal import KVClient
internal import KVSync

@_cdecl("kv_store_set_conflict_handler") @implementation
public func kv_store_set_conflict_handler(
  _ store: OpaquePointer?, _ handler: kv_conflict_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let object: StoreObject
    do throws(StoreError) {
      object = try StoreObject.borrow(store)
      try object.core.checkConflicts()
      if handler != nil { try object.client.callbacks.prepare() }
    } catch {
      freeContext?(context)
      throw error
    }
    guard let handler else {
      freeContext?(context)
      return object.setConflictAsker(nil)
    }
    let callback = ConflictCallback(handler, context, free: freeContext)
    object.setConflictAsker(ConflictAsker(callback, client: object.client))
  }
}
