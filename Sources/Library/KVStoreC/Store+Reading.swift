public import CKVStore
internal import KVClient
internal import KVSync

@_cdecl("kv_store_find_by_id") @implementation
public func kv_store_find_by_id(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    if options == nil, try lent(store, id, to: out) { return Status.ok }
    return try storeFindByID(store, id, options).run(into: out)
  }
}

// MARK: Operations

func storeFind(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let options = try callOptions(options)
  return Operation(on: store.client, isLocal: store.core.readsLocally(options)) {
    (running) throws(StoreError) in
    try store.core.find(query, running.run(options)) { running.early(.entities($0)) }
      .map { .entities($0) }
  }
}

func storeFindByID(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, id) = (try StoreObject.borrow(store), try text(id, named: "id"))
  let options = try callOptions(options)
  return Operation(on: store.client, isLocal: store.core.readsLocally(options)) {
    (running) throws(StoreError) in
    try store.core.find(id: id, running.run(options)) { running.early(.json($0)) }
      .map { .json($0) }
  }
}

func storeFindByIds(
  _ store: OpaquePointer?, _ ids: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, ids) = (try StoreObject.borrow(store), try ids.texts())
  let options = try callOptions(options)
  return Operation(on: store.client, isLocal: store.core.readsLocally(options)) {
    (running) throws(StoreError) in
    try store.core.find(ids: ids, running.run(options)) { running.early(.json($0)) }
      .map { .json($0) }
  }
}

/// The shortest way: from the database's page into the caller's text. False if the store does not read
/// locally by default.
private func lent(
  _ store: OpaquePointer?, _ id: CString?, to out: TextOutput
) throws(StoreError) -> Bool {
  let store = try StoreObject.borrow(store)
  guard store.core.lendsLocally else { return false }
  let id = try text(id, named: "id")
  var isCopied = false
  try store.client.during { () throws(StoreError) in
    try store.core.lend(id: id) { isCopied = out.copy($0) }
  }
  guard isCopied else { throw StoreError.noMemory }
  return true
}

func storeCount(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let options = try callOptions(options)
  return Operation(on: store.client, isLocal: store.core.readsLocally(options)) {
    (running) throws(StoreError) in
    try store.core.count(query, running.run(options)) { running.early(.count(Int64($0))) }
      .map { .count(Int64($0)) }
  }
}
