public import CKVStore
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
    try store.query(ofID: try text(id, named: "id"))
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
      try SignalledSource(subscription) { (signal) throws(StoreError) in
        let observation = try object.core.observe(wanted, signal)
        return .init(look: { changes(of: observation) }, end: { observation.end() })
      }
    }
    return (object.client, begin)
  }
}

private func changes(of observation: any Observation) -> Event? {
  do throws(StoreError) {
    guard let changes = try observation.changes() else { return nil }
    return .success(try changes.json())
  } catch {
    // What could not be told is told by what comes next.
    observation.startAnew()
    return .failure(error)
  }
}
