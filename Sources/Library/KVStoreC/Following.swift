public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

@_cdecl("kv_store_follow") @implementation
public func kv_store_follow(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ given: CString?, _ receive: kv_event_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ subscriptionOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  subscribe(
    EventHandlers(ifAny: receive), context, freeContext, subscriptionOut, errorOut
  ) { () throws(StoreError) in
    let object = try StoreObject.borrow(store)
    let wanted = try QueryObject.all(or: query)
    let how = try DataStore.Following(options(given) ?? [:])
    let begin = { (subscription: SubscriptionObject) throws(StoreError) -> any EventSource in
      try SignalledSource(subscription) { (signal) throws(StoreError) in
        let follow = try object.core.follow(wanted, how, changed: signal)
        return .init(
          state: { JSONValue.object(follow.status.jsonObject).bytes }, end: { follow.close() })
      }
    }
    return (object.client, begin)
  }
}

@_cdecl("kv_client_status") @implementation
public func kv_client_status(
  _ client: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let client = try ClientObject.borrow(client)
    let status = try client.during { () throws(StoreError) in try client.core.status() }
    try out.write(JSONValue.object(status.jsonObject).bytes)
  }
}

@_cdecl("kv_client_observe_status") @implementation
public func kv_client_observe_status(
  _ client: OpaquePointer?, _ receive: kv_event_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ subscriptionOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  subscribe(
    receive.map { EventHandlers($0) }, context, freeContext, subscriptionOut, errorOut
  ) { () throws(StoreError) in
    let client = try ClientObject.borrow(client)
    let begin = { (subscription: SubscriptionObject) throws(StoreError) -> any EventSource in
      try SignalledSource(subscription) { (signal) throws(StoreError) in
        let core = client.core
        let observer = try core.observeStatus(signal)
        return .init(
          state: { () throws(StoreError) in JSONValue.object(try core.status().jsonObject).bytes },
          end: { observer.end() })
      }
    }
    return (client, begin)
  }
}
