public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

@_cdecl("kv_subscription_close") @implementation
public func kv_subscription_close(_ subscription: OpaquePointer?) -> kv_status {
  guard subscription != nil else { return Status.ok }
  return perform(nil) { () throws(StoreError) in
    let closed = try SubscriptionObject.close(subscription)
    closed.client.disown(Handle(subscription))
    closed.close()
  }
}

func subscriptionEnd(
  _ subscription: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let subscription = try SubscriptionObject.borrow(subscription)
  let (options, isInside) = (try callOptions(options) ?? Options(), subscription.isInside)
  return Operation(on: subscription.client) { (running) throws(StoreError) in
    try subscription.end(options, running.cancellation, isInside: isInside)
    return .remote(.nothing)
  }
}

@_cdecl("kv_client_observe_sync") @implementation
public func kv_client_observe_sync(
  _ client: OpaquePointer?, _ receive: kv_event_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ subscriptionOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  subscribe(
    receive.map { EventHandlers($0) }, context, freeContext, subscriptionOut, errorOut
  ) { () throws(StoreError) in
    let client = try ClientObject.borrow(client)
    return (
      client,
      { subscription in
        SyncListener(client.core.events) { event in
          subscription.deliver { .success(JSONValue.object(event.json).bytes) }
        }
      }
    )
  }
}

/// Listens to a client until its subscription ends.
private final class SyncListener: EventSource {
  private let listener: SyncEvents.Listener

  init(_ events: SyncEvents, _ receive: @escaping @Sendable (SyncEvent) -> Void) {
    listener = events.listen(receive)
  }

  func end() { listener.end() }
}
