// Made by scripts/generate_abi.py from include/kvstore.h: do not edit.

public import CKVStore
internal import KVSync

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
