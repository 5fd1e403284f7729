public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVQuery
internal import KVSync

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
    let keys = try keyPaths(JSONArgument(keys, length, named: "keys_json"))
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
    try out.write(JSONValue.array(groups.resultsByNumber.map { .object($0) }).bytes)
  }
}

// MARK: Operations

func storeGroup(
  _ store: OpaquePointer?, _ grouping: JSONArgument, _ query: OpaquePointer?,
  _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let (wanted, options) = (
    try GroupRequest(parsing: grouping.text()), try callOptions(options)
  )
  return Operation(on: store.client, isLocal: store.core.readsLocally(options)) {
    (running) throws(StoreError) in
    try store.core.group(wanted, query, run: running.run(options)) { running.early(.json($0)) }
      .map { .json($0) }
  }
}

func storeDistinct(
  _ store: OpaquePointer?, _ path: CString?, _ query: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let (path, options) = (try text(path, named: "path"), try callOptions(options))
  return Operation(on: store.client, isLocal: store.core.readsLocally(options)) {
    (running) throws(StoreError) in
    try store.core.distinct(path, query, run: running.run(options)) { running.early(.json($0)) }
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
    throw StoreError(.internal, "A find has no result.")
  }
  return entities
}

/// A JSON array of names; none for NULL.
private func keyPaths(_ keys: JSONArgument) throws(StoreError) -> [Path] {
  guard let text = try keys.optionalText() else { return [] }
  let names = try JSONValue.ifValid(text)?.arrayValue
  let keys = names?.compactMap(\.stringValue).filter { !$0.isEmpty }
  guard let keys, keys.count == names?.count else {
    throw StoreError(.invalid, "keys_json is not a JSON array of names.")
  }
  return keys.map { Path($0) }
}
