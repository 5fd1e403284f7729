public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

@_cdecl("kv_store_pull") @implementation
public func kv_store_pull(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try pull(store, query, options).run(givingTo: out)
  }
}

@_cdecl("kv_store_pull_async") @implementation
public func kv_store_pull_async(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try pull(store, query, options)
  }
}

@_cdecl("kv_store_push") @implementation
public func kv_store_push(
  _ store: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try push(store, options).run(givingTo: out)
  }
}

@_cdecl("kv_store_push_async") @implementation
public func kv_store_push_async(
  _ store: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try push(store, options)
  }
}

@_cdecl("kv_store_sync") @implementation
public func kv_store_sync(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try sync(store, query, options).run(givingTo: out)
  }
}

@_cdecl("kv_store_sync_async") @implementation
public func kv_store_sync_async(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try sync(store, query, options)
  }
}

// MARK: Operations

private func pull(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let options = try callOptions(options)
  return Operation(on: store.client) { (running) throws(StoreError) in
    let result = try store.core.pull(query, running.run(options))
    return .remote(.json(JSONValue.object(result.jsonObject).bytes))
  }
}

private func push(_ store: OpaquePointer?, _ options: CString?) throws(StoreError) -> Operation {
  let (store, options) = (try StoreObject.borrow(store), try callOptions(options))
  return Operation(on: store.client) { (running) throws(StoreError) in
    let result = try store.core.push(running.run(options))
    return .remote(Outcome(result.jsonObject, isPartial: !result.errors.isEmpty))
  }
}

private func sync(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let options = try callOptions(options)
  return Operation(on: store.client) { (running) throws(StoreError) in
    let result = try store.core.sync(query, running.run(options))
    return .remote(Outcome(result.jsonObject, isPartial: !result.push.errors.isEmpty))
  }
}

extension Outcome {
  fileprivate init(_ object: JSONObject, isPartial: Bool) {
    let bytes = JSONValue.object(object).bytes
    self = isPartial ? .partial(bytes) : .json(bytes)
  }
}
