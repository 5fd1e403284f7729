public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

@_cdecl("kv_store_subscribe") @implementation
public func kv_store_subscribe(
  _ store: OpaquePointer?, _ options: CString?, _ onReady: kv_event_fn?, _ onNext: kv_event_fn?,
  _ onStatus: kv_event_fn?, _ onError: kv_event_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ subscriptionOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let handlers = EventHandlers(ready: onReady, next: onNext, status: onStatus, failure: onError)
  return subscribe(handlers, context, freeContext, subscriptionOut, errorOut) {
    () throws(StoreError) in
    let object = try StoreObject.borrow(store)
    let listening = try DataStore.Listening(KVStoreC.options(options) ?? [:])
    let begin = { (subscription: SubscriptionObject) throws(StoreError) -> any EventSource in
      let source = LiveSource(subscription)
      try source.begin { (receive) throws(StoreError) in
        try object.core.listen(listening, receive)
      }
      return source
    }
    return (object.client, begin)
  }
}

func liveRegister(
  _ client: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  return Operation(on: client) { (running) throws(StoreError) in
    try client.core.registerLive(options: options, cancellation: running.cancellation)
    return .remote(.nothing)
  }
}

func liveUnregister(
  _ client: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  return Operation(on: client) { (running) throws(StoreError) in
    try client.core.unregisterLive(options: options, cancellation: running.cancellation)
    return .remote(.nothing)
  }
}
