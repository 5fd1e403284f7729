internal import KVJSON
internal import KVClient
internal import KVSync

// MARK: Operations

func storePull(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let options = try callOptions(options)
  return Operation(on: store.client) { (running) throws(StoreError) in
    let result = try store.core.pull(query, running.run(options))
    return .remote(.json(JSONValue.object(result.jsonObject).bytes))
  }
}

func storePush(_ store: OpaquePointer?, _ options: CString?) throws(StoreError) -> Operation {
  let (store, options) = (try StoreObject.borrow(store), try callOptions(options))
  return Operation(on: store.client) { (running) throws(StoreError) in
    let result = try store.core.push(running.run(options))
    return .remote(Outcome(result.jsonObject, isPartial: !result.errors.isEmpty))
  }
}

func storeSync(
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
