public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

@_cdecl("kv_results_count") @implementation
public func kv_results_count(
  _ results: OpaquePointer?, _ countOut: CountOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    out.write(try ResultsObject.borrow(results).results.count)
  }
}

@_cdecl("kv_results_get") @implementation
public func kv_results_get(
  _ results: OpaquePointer?, _ position: UInt64, _ jsonOut: LentOut?, _ lengthOut: LengthOut?,
  _ stateOut: FlagOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = LentOutput(jsonOut, lengthOut)
  stateOut?.pointee = RecordState.unchanged.rawValue
  return status(errorOut) { () throws(StoreError) -> kv_status in
    try out.require()
    guard let record = try ResultsObject.borrow(results).record(at: position) else {
      return Status.done
    }
    stateOut?.pointee = record.state.rawValue
    guard record.state != .deleted else {
      throw StoreError(.notFound, "The record was deleted after it was fetched.")
    }
    out.lend(record.text)
    return Status.ok
  }
}

@_cdecl("kv_results_page") @implementation
public func kv_results_page(
  _ results: OpaquePointer?, _ position: UInt64, _ limit: UInt32, _ jsonOut: LentOut?,
  _ lengthOut: LengthOut?, _ statesOut: FlagOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = LentOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) -> kv_status in
    try out.require()
    let page = try ResultsObject.borrow(results).page(at: position, limit: limit) {
      statesOut?[$0] = $1.rawValue
    }
    out.lend(page.text)
    return page.isEmpty ? Status.done : Status.ok
  }
}

@_cdecl("kv_results_refresh") @implementation
public func kv_results_refresh(_ results: OpaquePointer?, _ errorOut: HandleOut?) -> kv_status {
  perform(errorOut) { () throws(StoreError) in try ResultsObject.borrow(results).results.refresh() }
}

@_cdecl("kv_results_observe") @implementation
public func kv_results_observe(
  _ results: OpaquePointer?, _ receive: kv_event_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ subscriptionOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  subscribe(
    receive.map { EventHandlers($0) }, context, freeContext, subscriptionOut, errorOut
  ) { () throws(StoreError) in
    let object = try ResultsObject.borrow(results)
    let begin = { (subscription: SubscriptionObject) throws(StoreError) -> any EventSource in
      try SignalledSource(subscription) { (signal) throws(StoreError) in
        let followed = try object.results.follow(signal)
        return .init(
          look: {
            do throws(StoreError) { return try followed.changes().map { .success($0.json) } } catch
            {
              return .failure(error)
            }
          }, end: { followed.end() })
      }
    }
    return (object.client, begin)
  }
}

@_cdecl("kv_results_statistics") @implementation
public func kv_results_statistics(
  _ results: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    try out.write(try ResultsObject.borrow(results).results.statistics.json)
  }
}

@_cdecl("kv_results_close") @implementation
public func kv_results_close(_ results: OpaquePointer?) {
  guard let closed = try? ResultsObject.close(results) else { return }
  closed.client.disown(Handle(results))
}

// MARK: Operations

func storeResults(
  _ store: OpaquePointer?, _ request: JSONArgument, _ query: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let wanted = try ResultsRequest(request.optionalObject() ?? JSONObject(), for: query)
  let options = try callOptions(options)
  return Operation(on: store.client, isLocal: store.core.readsLocally(options)) {
    (running) throws(StoreError) in
    try store.core.fetch(wanted, query, run: running.run(options)).map { .results($0) }
  }
}

extension FetchedResults.Statistics {
  fileprivate var json: [UInt8] {
    JSONValue.object([
      "reads": .int(Int64(reads)), "cachedRecords": .int(Int64(cachedRecords)),
      "cachedBytes": .int(Int64(cachedBytes)),
    ]).bytes
  }
}
