public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

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

func streamACL(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (part, options) = (try Part(client, stream, user), try callOptions(options) ?? Options())
  return Operation(on: part.client) { (running) throws(StoreError) in
    .remote(
      .json(
        try part.client.core.streamACL(
          part.stream, owner: part.owner, options: options, cancellation: running.cancellation
        ).bytes
      ))
  }
}

func streamSetACL(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ aclJSON: JSONArgument,
  _ options: CString?
) throws(StoreError) -> Operation {
  let (part, options) = (try Part(client, stream, user), try callOptions(options) ?? Options())
  let acl = try aclJSON.object()
  return Operation(on: part.client) { (running) throws(StoreError) in
    try part.client.core.setStreamACL(
      part.stream, owner: part.owner, acl: acl, options: options, cancellation: running.cancellation
    )
    return .remote(.nothing)
  }
}

func streamOwners(
  _ client: OpaquePointer?, _ stream: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (part, options) = (try Part(client, stream, nil), try callOptions(options) ?? Options())
  return Operation(on: part.client) { (running) throws(StoreError) in
    .remote(
      .json(
        try part.client.core.streamOwners(
          part.stream, options: options, cancellation: running.cancellation
        ).bytes))
  }
}

func streamSend(
  _ client: OpaquePointer?, _ stream: CString?, _ user: CString?, _ message: JSONArgument,
  _ options: CString?
) throws(StoreError) -> Operation {
  let (part, options) = (try Part(client, stream, user), try callOptions(options) ?? Options())
  let text = try message.text()
  guard try JSONValue.ifValid(text) != nil else {
    throw StoreError(.invalid, "message_json is not JSON.")
  }
  return Operation(on: part.client) { (running) throws(StoreError) in
    try part.client.core.send(
      Array(text.utf8), to: part.stream, owner: part.owner, options: options,
      cancellation: running.cancellation)
    return .remote(.nothing)
  }
}
