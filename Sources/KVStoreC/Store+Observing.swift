public import CKVStore
internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVQuery
internal import KVSync

@_cdecl("kv_store_observe") @implementation
public func kv_store_observe(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ receive: kv_event_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ subscriptionOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  observe(store, receive, context, freeContext, subscriptionOut, errorOut) {
    (_) throws(StoreError) in try QueryObject.all(or: query)
  }
}

@_cdecl("kv_store_observe_by_id") @implementation
public func kv_store_observe_by_id(
  _ store: OpaquePointer?, _ id: CString?, _ receive: kv_event_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ subscriptionOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  observe(store, receive, context, freeContext, subscriptionOut, errorOut) {
    (store) throws(StoreError) in
    Query(key: try text(id, named: "id"), store.engine.format)
  }
}

private func observe(
  _ store: OpaquePointer?, _ receive: kv_event_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ subscriptionOut: HandleOut?, _ errorOut: HandleOut?,
  _ query: (DataStore) throws(StoreError) -> Query
) -> kv_status {
  subscribe(
    receive.map { EventHandlers($0) }, context, freeContext, subscriptionOut, errorOut
  ) { () throws(StoreError) in
    let object = try StoreObject.borrow(store)
    let wanted = try query(object.core)
    let begin = { (subscription: SubscriptionObject) throws(StoreError) -> any EventSource in
      let feed = ObserverFeed(subscription)
      try feed.begin { (signal) throws(StoreError) in
        try object.core.observe(wanted, signal)
      }
      return feed
    }
    return (object.client, begin)
  }
}

/// Looks what has changed when a subscriber's turn has come: however much is written meanwhile, one look
/// waits for each subscriber.
private final class ObserverFeed: EventSource {
  private let subscription: SubscriptionObject
  private let observation = Monitor<(any Observation)?>(nil)
  private let isWaiting = Monitor(false)

  init(_ subscription: SubscriptionObject) { self.subscription = subscription }

  func begin(
    _ observe: (@escaping @Sendable () -> Void) throws(StoreError) -> any Observation
  ) throws(StoreError) {
    let begun = try observe { [weak self] in self?.signal() }
    observation.withLock { $0 = begun }
    signal()
  }

  func end() {
    let ended = observation.withLock { observation in
      defer { observation = nil }
      return observation
    }
    ended?.end()
  }

  private func signal() {
    let isFirst = isWaiting.withLock { isWaiting in
      defer { isWaiting = true }
      return !isWaiting
    }
    if isFirst { subscription.deliver { [self] in look() } }
  }

  private func look() -> Event? {
    isWaiting.withLock { $0 = false }
    guard let observation = observation.withLock({ $0 }) else { return nil }
    do throws(StoreError) {
      return try observation.changes().map { .success($0.json) }
    } catch {
      return .failure(error)
    }
  }
}
