public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

@_cdecl("kv_stream_acl") @implementation
public func kv_stream_acl(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try acl(client, stream, user, options).run(givingTo: out)
  }
}

@_cdecl("kv_stream_acl_async") @implementation
public func kv_stream_acl_async(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try acl(client, stream, user, options)
  }
}

@_cdecl("kv_stream_set_acl") @implementation
public func kv_stream_set_acl(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ aclJSON: CString?,
  _ length: Int, _ options: CString?, _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try setACL(client, stream, user, aclJSON, length, options).run(givingTo: TextOutput.nowhere)
  }
}

@_cdecl("kv_stream_set_acl_async") @implementation
public func kv_stream_set_acl_async(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ aclJSON: CString?,
  _ length: Int, _ options: CString?, _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try setACL(client, stream, user, aclJSON, length, options)
  }
}

@_cdecl("kv_stream_owners") @implementation
public func kv_stream_owners(
  _ client: OpaquePointer?, _ stream: CString?, _ options: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try owners(client, stream, options).run(givingTo: out)
  }
}

@_cdecl("kv_stream_owners_async") @implementation
public func kv_stream_owners_async(
  _ client: OpaquePointer?, _ stream: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try owners(client, stream, options)
  }
}

@_cdecl("kv_stream_send") @implementation
public func kv_stream_send(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ message: CString?,
  _ length: Int, _ options: CString?, _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try send(client, stream, user, message, length, options).run(givingTo: TextOutput.nowhere)
  }
}

@_cdecl("kv_stream_send_async") @implementation
public func kv_stream_send_async(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ message: CString?,
  _ length: Int, _ options: CString?, _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try send(client, stream, user, message, length, options)
  }
}

@_cdecl("kv_stream_subscribe") @implementation
public func kv_stream_subscribe(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ onReady: kv_event_fn?,
  _ onNext: kv_event_fn?, _ onStatus: kv_event_fn?, _ onError: kv_event_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ subscriptionOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let handlers = EventHandlers(ready: onReady, next: onNext, status: onStatus, failure: onError)
  return subscribe(handlers, context, freeContext, subscriptionOut, errorOut) {
    () throws(StoreError) in
    let part = try Part(client, stream, user)
    let begin = { (subscription: SubscriptionObject) throws(StoreError) -> any EventSource in
      let source = LiveSource(subscription)
      try source.begin { (receive) throws(StoreError) in
        try part.client.core.listen(to: part.stream, part.owner, receive)
      }
      return source
    }
    return (part.client, begin)
  }
}

/// A substream as C names it; `owner` nil: the active user's.
private struct Part {
  let client: ClientObject
  let stream: String
  let owner: String?

  init(
    _ client: OpaquePointer?, _ stream: CString?, _ user: CString?
  ) throws(StoreError) {
    self.client = try ClientObject.borrow(client)
    self.stream = try text(stream, named: "stream")
    owner = try optionalText(user, named: "user")
  }
}

private func acl(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (part, options) = (try Part(client, stream, user), try callOptions(options) ?? Options())
  return Operation(on: part.client) { (running) throws(StoreError) in
    .remote(
      .json(
        try part.client.core.streamACL(part.stream, part.owner, options, running.cancellation).bytes
      ))
  }
}

private func setACL(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ aclJSON: CString?,
  _ length: Int, _ options: CString?
) throws(StoreError) -> Operation {
  let (part, options) = (try Part(client, stream, user), try callOptions(options) ?? Options())
  let text = try optionalJSONText(aclJSON, length, named: "acl_json") ?? ""
  guard let acl = (try? JSONValue(parsing: text))?.objectValue else {
    throw StoreError(.invalid, "acl_json is no JSON object.")
  }
  return Operation(on: part.client) { (running) throws(StoreError) in
    try part.client.core.setStreamACL(
      part.stream, part.owner, acl, options, running.cancellation)
    return .remote(.nothing)
  }
}

private func owners(
  _ client: OpaquePointer?, _ stream: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (part, options) = (try Part(client, stream, nil), try callOptions(options) ?? Options())
  return Operation(on: part.client) { (running) throws(StoreError) in
    .remote(
      .json(try part.client.core.streamOwners(part.stream, options, running.cancellation).bytes))
  }
}

private func send(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ message: CString?,
  _ length: Int, _ options: CString?
) throws(StoreError) -> Operation {
  let (part, options) = (try Part(client, stream, user), try callOptions(options) ?? Options())
  guard let text = try optionalJSONText(message, length, named: "message_json") else {
    throw missing("message_json")
  }
  guard (try? JSONValue(parsing: text)) != nil else {
    throw StoreError(.invalid, "message_json is not JSON.")
  }
  return Operation(on: part.client) { (running) throws(StoreError) in
    try part.client.core.send(
      Array(text.utf8), to: part.stream, part.owner, options, running.cancellation)
    return .remote(.nothing)
  }
}
