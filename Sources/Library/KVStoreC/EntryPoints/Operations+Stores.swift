// Made by scripts/generate_abi.py from include/kvstore.h: do not edit.

public import CKVStore
internal import KVSync

@_cdecl("kv_store_find") @implementation
public func kv_store_find(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ cursorOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(cursorOut, named: "cursor_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try storeFind(store, query, options).run(into: out)
  }
}

@_cdecl("kv_store_find_async") @implementation
public func kv_store_find_async(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try storeFind(store, query, options)
  }
}

@_cdecl("kv_store_find_by_id_async") @implementation
public func kv_store_find_by_id_async(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try storeFindByID(store, id, options)
  }
}

@_cdecl("kv_store_find_by_ids") @implementation
public func kv_store_find_by_ids(
  _ store: OpaquePointer?, _ idsJSON: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try storeFindByIds(
      store, JSONArgument(idsJSON, length, named: "ids_json", for: .call), options
    ).run(into: out)
  }
}

@_cdecl("kv_store_find_by_ids_async") @implementation
public func kv_store_find_by_ids_async(
  _ store: OpaquePointer?, _ idsJSON: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try storeFindByIds(
      store, JSONArgument(idsJSON, length, named: "ids_json", for: .operation), options)
  }
}

@_cdecl("kv_store_save") @implementation
public func kv_store_save(
  _ store: OpaquePointer?, _ entityJSON: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try storeSave(
      store, JSONArgument(entityJSON, length, named: "entity_json", for: .call), options
    ).run(into: out)
  }
}

@_cdecl("kv_store_save_async") @implementation
public func kv_store_save_async(
  _ store: OpaquePointer?, _ entityJSON: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try storeSave(
      store, JSONArgument(entityJSON, length, named: "entity_json", for: .operation), options)
  }
}

@_cdecl("kv_store_save_many") @implementation
public func kv_store_save_many(
  _ store: OpaquePointer?, _ entitiesJSON: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try storeSaveMany(
      store, JSONArgument(entitiesJSON, length, named: "entities_json", for: .call), options
    ).run(into: out)
  }
}

@_cdecl("kv_store_save_many_async") @implementation
public func kv_store_save_many_async(
  _ store: OpaquePointer?, _ entitiesJSON: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try storeSaveMany(
      store, JSONArgument(entitiesJSON, length, named: "entities_json", for: .operation), options)
  }
}

@_cdecl("kv_store_remove_by_id") @implementation
public func kv_store_remove_by_id(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?, _ countOut: CountOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut, named: "count_out")
  return status(errorOut) { () throws(StoreError) in
    try storeRemoveByID(store, id, options).run(into: out)
  }
}

@_cdecl("kv_store_remove_by_id_async") @implementation
public func kv_store_remove_by_id_async(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try storeRemoveByID(store, id, options)
  }
}

@_cdecl("kv_store_remove") @implementation
public func kv_store_remove(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ countOut: CountOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut, named: "count_out")
  return status(errorOut) { () throws(StoreError) in
    try storeRemove(store, query, options).run(into: out)
  }
}

@_cdecl("kv_store_remove_async") @implementation
public func kv_store_remove_async(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try storeRemove(store, query, options)
  }
}

@_cdecl("kv_store_update") @implementation
public func kv_store_update(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ updateJSON: CString?, _ length: Int,
  _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try storeUpdate(
      store, query, JSONArgument(updateJSON, length, named: "update_json", for: .call), options
    ).run(into: out)
  }
}

@_cdecl("kv_store_update_async") @implementation
public func kv_store_update_async(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ updateJSON: CString?, _ length: Int,
  _ options: CString?, _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try storeUpdate(
      store, query, JSONArgument(updateJSON, length, named: "update_json", for: .operation), options
    )
  }
}

@_cdecl("kv_store_share") @implementation
public func kv_store_share(
  _ store: OpaquePointer?, _ id: CString?, _ aclJSON: CString?, _ length: Int, _ options: CString?,
  _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try storeShare(store, id, JSONArgument(aclJSON, length, named: "acl_json", for: .call), options)
      .run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_store_share_async") @implementation
public func kv_store_share_async(
  _ store: OpaquePointer?, _ id: CString?, _ aclJSON: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try storeShare(
      store, id, JSONArgument(aclJSON, length, named: "acl_json", for: .operation), options)
  }
}

@_cdecl("kv_store_unshare") @implementation
public func kv_store_unshare(
  _ store: OpaquePointer?, _ id: CString?, _ aclJSON: CString?, _ length: Int, _ options: CString?,
  _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try storeUnshare(
      store, id, JSONArgument(aclJSON, length, named: "acl_json", for: .call), options
    ).run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_store_unshare_async") @implementation
public func kv_store_unshare_async(
  _ store: OpaquePointer?, _ id: CString?, _ aclJSON: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try storeUnshare(
      store, id, JSONArgument(aclJSON, length, named: "acl_json", for: .operation), options)
  }
}

@_cdecl("kv_store_count") @implementation
public func kv_store_count(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ countOut: CountOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut, named: "count_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try storeCount(store, query, options).run(into: out)
  }
}

@_cdecl("kv_store_count_async") @implementation
public func kv_store_count_async(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try storeCount(store, query, options)
  }
}

@_cdecl("kv_store_group") @implementation
public func kv_store_group(
  _ store: OpaquePointer?, _ groupJSON: CString?, _ length: Int, _ query: OpaquePointer?,
  _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try storeGroup(
      store, JSONArgument(groupJSON, length, named: "group_json", for: .call), query, options
    ).run(into: out)
  }
}

@_cdecl("kv_store_group_async") @implementation
public func kv_store_group_async(
  _ store: OpaquePointer?, _ groupJSON: CString?, _ length: Int, _ query: OpaquePointer?,
  _ options: CString?, _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try storeGroup(
      store, JSONArgument(groupJSON, length, named: "group_json", for: .operation), query, options)
  }
}

@_cdecl("kv_store_distinct") @implementation
public func kv_store_distinct(
  _ store: OpaquePointer?, _ path: CString?, _ query: OpaquePointer?, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try storeDistinct(store, path, query, options).run(into: out)
  }
}

@_cdecl("kv_store_distinct_async") @implementation
public func kv_store_distinct_async(
  _ store: OpaquePointer?, _ path: CString?, _ query: OpaquePointer?, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try storeDistinct(store, path, query, options)
  }
}

@_cdecl("kv_store_pull") @implementation
public func kv_store_pull(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try storePull(store, query, options).run(into: out)
  }
}

@_cdecl("kv_store_pull_async") @implementation
public func kv_store_pull_async(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try storePull(store, query, options)
  }
}

@_cdecl("kv_store_push") @implementation
public func kv_store_push(
  _ store: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try storePush(store, options).run(into: out)
  }
}

@_cdecl("kv_store_push_async") @implementation
public func kv_store_push_async(
  _ store: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try storePush(store, options)
  }
}

@_cdecl("kv_store_sync") @implementation
public func kv_store_sync(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try storeSync(store, query, options).run(into: out)
  }
}

@_cdecl("kv_store_sync_async") @implementation
public func kv_store_sync_async(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try storeSync(store, query, options)
  }
}

@_cdecl("kv_store_pending_retry") @implementation
public func kv_store_pending_retry(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?, _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try storePendingRetry(store, id, options).run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_store_pending_retry_async") @implementation
public func kv_store_pending_retry_async(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try storePendingRetry(store, id, options)
  }
}

@_cdecl("kv_store_results") @implementation
public func kv_store_results(
  _ store: OpaquePointer?, _ requestJSON: CString?, _ length: Int, _ query: OpaquePointer?,
  _ options: CString?, _ resultsOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(resultsOut, named: "results_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try storeResults(
      store, JSONArgument(requestJSON, length, named: "request_json", for: .call), query, options
    ).run(into: out)
  }
}

@_cdecl("kv_store_results_async") @implementation
public func kv_store_results_async(
  _ store: OpaquePointer?, _ requestJSON: CString?, _ length: Int, _ query: OpaquePointer?,
  _ options: CString?, _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try storeResults(
      store, JSONArgument(requestJSON, length, named: "request_json", for: .operation), query,
      options)
  }
}
