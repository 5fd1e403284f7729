public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVQuery
internal import KVSync

@_cdecl("kv_store_group") @implementation
public func kv_store_group(
  _ store: OpaquePointer?, _ grouping: CString?, _ length: Int, _ query: OpaquePointer?,
  _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try group(store, grouping, length, query, options).run(givingTo: out)
  }
}

@_cdecl("kv_store_group_async") @implementation
public func kv_store_group_async(
  _ store: OpaquePointer?, _ grouping: CString?, _ length: Int, _ query: OpaquePointer?,
  _ options: CString?, _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try group(store, grouping, length, query, options)
  }
}

@_cdecl("kv_store_distinct") @implementation
public func kv_store_distinct(
  _ store: OpaquePointer?, _ path: CString?, _ query: OpaquePointer?, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try distinct(store, path, query, options).run(givingTo: out)
  }
}

@_cdecl("kv_store_distinct_async") @implementation
public func kv_store_distinct_async(
  _ store: OpaquePointer?, _ path: CString?, _ query: OpaquePointer?, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try distinct(store, path, query, options)
  }
}

@_cdecl("kv_store_reduce") @implementation
public func kv_store_reduce(
  _ store: OpaquePointer?, _ keys: CString?, _ length: Int, _ query: OpaquePointer?,
  _ options: CString?, _ reduce: kv_reduce_fn?, _ context: UnsafeMutableRawPointer?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    guard let reduce else { throw missing("reduce") }
    let store = try StoreObject.borrow(store)
    let keys = try keyPaths(keys, length)
    let entities = try entities(store, QueryObject.all(or: query), options)
    // A child of the client, so that closing that, which `reduce` may do, closes this too.
    let cursor = try store.client.adopt(CursorObject(entities, client: store.client))
    defer { kv_cursor_close(cursor.pointer) }
    var groups = store.core.groups(by: keys)
    while let entity = try CursorObject.borrow(cursor.pointer).next() {
      guard let number = groups.add(UnsafeRawBufferPointer(entity)) else { continue }
      guard reduce(context, number, entity.baseAddress, entity.count) == 0 else {
        throw StoreError(.cancelled, "The reduce function asked to stop.")
      }
    }
    try out.give(JSONValue.array(groups.resultsByNumber.map { .object($0) }).bytes)
  }
}

// MARK: Operations

private func group(
  _ store: OpaquePointer?, _ grouping: CString?, _ length: Int, _ query: OpaquePointer?,
  _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  guard let text = try optionalJSONText(grouping, length, named: "group_json") else {
    throw missing("group_json")
  }
  let (wanted, options) = (try GroupRequest(parsing: text), try callOptions(options))
  return Operation(on: store.client, isLocal: store.core.readsLocally(options)) {
    (running) throws(StoreError) in
    try store.core.group(wanted, query, running.run(options)) { running.early(.json($0)) }
      .map { .json($0) }
  }
}

private func distinct(
  _ store: OpaquePointer?, _ path: CString?, _ query: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let (path, options) = (try text(path, named: "path"), try callOptions(options))
  return Operation(on: store.client, isLocal: store.core.readsLocally(options)) {
    (running) throws(StoreError) in
    try store.core.distinct(path, query, running.run(options)) { running.early(.json($0)) }
      .map { .json($0) }
  }
}

/// What the query finds; its order and page count.
private func entities(
  _ store: StoreObject, _ query: Query, _ options: CString?
) throws(StoreError) -> any EntityCursor {
  let options = try callOptions(options)
  let outcome = try store.client.run { (running) throws(StoreError) in
    try store.core.find(query, running.run(options)).map { .entities($0) }
  }
  guard case .entities(let entities) = outcome else {
    throw StoreError(.internal, "A find gave no entities.")
  }
  return entities
}

/// A JSON array of names; none for NULL.
private func keyPaths(_ start: CString?, _ length: Int) throws(StoreError) -> [Path] {
  guard let text = try optionalJSONText(start, length, named: "keys_json") else { return [] }
  let names = (try? JSONValue(parsing: text))?.arrayValue
  let keys = names?.compactMap(\.stringValue).filter { !$0.isEmpty }
  guard let keys, keys.count == names?.count else {
    throw StoreError(.invalid, "keys_json is no JSON array of names.")
  }
  return keys.map { Path($0) }
}
