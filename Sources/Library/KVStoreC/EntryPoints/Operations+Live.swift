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
