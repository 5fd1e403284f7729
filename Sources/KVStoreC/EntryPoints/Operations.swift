// Made by scripts/generate_abi.py from include/kvstore.h: do not edit.

public import CKVStore
internal import KVSync

@_cdecl("kv_subscription_end") @implementation
public func kv_subscription_end(
  _ subscription: OpaquePointer?, _ options: CString?, _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try subscriptionEnd(subscription, options).run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_subscription_end_async") @implementation
public func kv_subscription_end_async(
  _ subscription: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try subscriptionEnd(subscription, options)
  }
}

@_cdecl("kv_ping") @implementation
public func kv_ping(
  _ client: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try ping(client, options).run(into: out)
  }
}

@_cdecl("kv_ping_async") @implementation
public func kv_ping_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try ping(client, options)
  }
}

@_cdecl("kv_user_signup") @implementation
public func kv_user_signup(
  _ client: OpaquePointer?, _ userJSON: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try userSignup(client, JSONArgument(userJSON, length, named: "user_json", for: .call), options)
      .run(into: out)
  }
}

@_cdecl("kv_user_signup_async") @implementation
public func kv_user_signup_async(
  _ client: OpaquePointer?, _ userJSON: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try userSignup(
      client, JSONArgument(userJSON, length, named: "user_json", for: .operation), options)
  }
}

@_cdecl("kv_user_login") @implementation
public func kv_user_login(
  _ client: OpaquePointer?, _ credentialsJSON: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try userLogin(
      client, JSONArgument(credentialsJSON, length, named: "credentials_json", for: .call), options
    ).run(into: out)
  }
}

@_cdecl("kv_user_login_async") @implementation
public func kv_user_login_async(
  _ client: OpaquePointer?, _ credentialsJSON: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try userLogin(
      client, JSONArgument(credentialsJSON, length, named: "credentials_json", for: .operation),
      options)
  }
}

@_cdecl("kv_user_login_with_code") @implementation
public func kv_user_login_with_code(
  _ client: OpaquePointer?, _ code: CString?, _ redirectURI: CString?, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try userLoginWithCode(client, code, redirectURI, options).run(into: out)
  }
}

@_cdecl("kv_user_login_with_code_async") @implementation
public func kv_user_login_with_code_async(
  _ client: OpaquePointer?, _ code: CString?, _ redirectURI: CString?, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try userLoginWithCode(client, code, redirectURI, options)
  }
}

@_cdecl("kv_user_logout") @implementation
public func kv_user_logout(_ client: OpaquePointer?, _ options: CString?, _ errorOut: HandleOut?)
  -> kv_status
{
  status(errorOut) { () throws(StoreError) in
    try userLogout(client, options).run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_user_logout_async") @implementation
public func kv_user_logout_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try userLogout(client, options)
  }
}

@_cdecl("kv_user_me") @implementation
public func kv_user_me(
  _ client: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try userMe(client, options).run(into: out)
  }
}

@_cdecl("kv_user_me_async") @implementation
public func kv_user_me_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try userMe(client, options)
  }
}

@_cdecl("kv_user_update") @implementation
public func kv_user_update(
  _ client: OpaquePointer?, _ userJSON: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try userUpdate(client, JSONArgument(userJSON, length, named: "user_json", for: .call), options)
      .run(into: out)
  }
}

@_cdecl("kv_user_update_async") @implementation
public func kv_user_update_async(
  _ client: OpaquePointer?, _ userJSON: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try userUpdate(
      client, JSONArgument(userJSON, length, named: "user_json", for: .operation), options)
  }
}

@_cdecl("kv_user_delete") @implementation
public func kv_user_delete(_ client: OpaquePointer?, _ options: CString?, _ errorOut: HandleOut?)
  -> kv_status
{
  status(errorOut) { () throws(StoreError) in
    try userDelete(client, options).run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_user_delete_async") @implementation
public func kv_user_delete_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try userDelete(client, options)
  }
}

@_cdecl("kv_user_exists") @implementation
public func kv_user_exists(
  _ client: OpaquePointer?, _ username: CString?, _ options: CString?, _ existsOut: FlagOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = FlagOutput(existsOut, named: "exists_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try userExists(client, username, options).run(into: out)
  }
}

@_cdecl("kv_user_exists_async") @implementation
public func kv_user_exists_async(
  _ client: OpaquePointer?, _ username: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try userExists(client, username, options)
  }
}

@_cdecl("kv_user_lookup") @implementation
public func kv_user_lookup(
  _ client: OpaquePointer?, _ membersJSON: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try userLookup(
      client, JSONArgument(membersJSON, length, named: "members_json", for: .call), options
    ).run(into: out)
  }
}

@_cdecl("kv_user_lookup_async") @implementation
public func kv_user_lookup_async(
  _ client: OpaquePointer?, _ membersJSON: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try userLookup(
      client, JSONArgument(membersJSON, length, named: "members_json", for: .operation), options)
  }
}

@_cdecl("kv_group_create") @implementation
public func kv_group_create(
  _ client: OpaquePointer?, _ groupJSON: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try groupCreate(
      client, JSONArgument(groupJSON, length, named: "group_json", for: .call), options
    ).run(into: out)
  }
}

@_cdecl("kv_group_create_async") @implementation
public func kv_group_create_async(
  _ client: OpaquePointer?, _ groupJSON: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try groupCreate(
      client, JSONArgument(groupJSON, length, named: "group_json", for: .operation), options)
  }
}

@_cdecl("kv_group_read") @implementation
public func kv_group_read(
  _ client: OpaquePointer?, _ id: CString?, _ options: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try groupRead(client, id, options).run(into: out)
  }
}

@_cdecl("kv_group_read_async") @implementation
public func kv_group_read_async(
  _ client: OpaquePointer?, _ id: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try groupRead(client, id, options)
  }
}

@_cdecl("kv_group_list") @implementation
public func kv_group_list(
  _ client: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try groupList(client, options).run(into: out)
  }
}

@_cdecl("kv_group_list_async") @implementation
public func kv_group_list_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try groupList(client, options)
  }
}

@_cdecl("kv_group_update") @implementation
public func kv_group_update(
  _ client: OpaquePointer?, _ id: CString?, _ changeJSON: CString?, _ length: Int,
  _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try groupUpdate(
      client, id, JSONArgument(changeJSON, length, named: "change_json", for: .call), options
    ).run(into: out)
  }
}

@_cdecl("kv_group_update_async") @implementation
public func kv_group_update_async(
  _ client: OpaquePointer?, _ id: CString?, _ changeJSON: CString?, _ length: Int,
  _ options: CString?, _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try groupUpdate(
      client, id, JSONArgument(changeJSON, length, named: "change_json", for: .operation), options)
  }
}

@_cdecl("kv_group_delete") @implementation
public func kv_group_delete(
  _ client: OpaquePointer?, _ id: CString?, _ options: CString?, _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try groupDelete(client, id, options).run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_group_delete_async") @implementation
public func kv_group_delete_async(
  _ client: OpaquePointer?, _ id: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try groupDelete(client, id, options)
  }
}

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

@_cdecl("kv_live_register") @implementation
public func kv_live_register(_ client: OpaquePointer?, _ options: CString?, _ errorOut: HandleOut?)
  -> kv_status
{
  status(errorOut) { () throws(StoreError) in
    try liveRegister(client, options).run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_live_register_async") @implementation
public func kv_live_register_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try liveRegister(client, options)
  }
}

@_cdecl("kv_live_unregister") @implementation
public func kv_live_unregister(
  _ client: OpaquePointer?, _ options: CString?, _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try liveUnregister(client, options).run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_live_unregister_async") @implementation
public func kv_live_unregister_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try liveUnregister(client, options)
  }
}

@_cdecl("kv_stream_acl") @implementation
public func kv_stream_acl(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try streamACL(client, stream, user, options).run(into: out)
  }
}

@_cdecl("kv_stream_acl_async") @implementation
public func kv_stream_acl_async(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try streamACL(client, stream, user, options)
  }
}

@_cdecl("kv_stream_set_acl") @implementation
public func kv_stream_set_acl(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ aclJSON: CString?,
  _ length: Int, _ options: CString?, _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try streamSetACL(
      client, stream, user, JSONArgument(aclJSON, length, named: "acl_json", for: .call), options
    ).run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_stream_set_acl_async") @implementation
public func kv_stream_set_acl_async(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ aclJSON: CString?,
  _ length: Int, _ options: CString?, _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try streamSetACL(
      client, stream, user, JSONArgument(aclJSON, length, named: "acl_json", for: .operation),
      options)
  }
}

@_cdecl("kv_stream_owners") @implementation
public func kv_stream_owners(
  _ client: OpaquePointer?, _ stream: CString?, _ options: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try streamOwners(client, stream, options).run(into: out)
  }
}

@_cdecl("kv_stream_owners_async") @implementation
public func kv_stream_owners_async(
  _ client: OpaquePointer?, _ stream: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try streamOwners(client, stream, options)
  }
}

@_cdecl("kv_stream_send") @implementation
public func kv_stream_send(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ messageJSON: CString?,
  _ length: Int, _ options: CString?, _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try streamSend(
      client, stream, user, JSONArgument(messageJSON, length, named: "message_json", for: .call),
      options
    ).run(into: TextOutput.nowhere)
  }
}

@_cdecl("kv_stream_send_async") @implementation
public func kv_stream_send_async(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ messageJSON: CString?,
  _ length: Int, _ options: CString?, _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in
    try streamSend(
      client, stream, user,
      JSONArgument(messageJSON, length, named: "message_json", for: .operation), options)
  }
}
