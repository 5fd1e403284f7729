public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

@_cdecl("kv_store_version") @implementation
public func kv_store_version(
  _ store: OpaquePointer?, _ id: CString?, _ versionOut: CountOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(versionOut, named: "version_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let (store, id) = (try StoreObject.borrow(store), try text(id, named: "id"))
    try store.client.during { () throws(StoreError) in
      out.write(Int(try store.core.version(of: id)))
    }
  }
}

// MARK: Operations

func storeSave(
  _ store: OpaquePointer?, _ entity: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  let store = try StoreObject.borrow(store)
  let (options, condition) = try writeOptions(options)
  let entity = try entity.input()
  return Operation(on: store.client, isLocal: store.core.writesLocally(options)) {
    (running) throws(StoreError) in
    try entity.withBytes { (bytes) throws(StoreError) in
      try store.core.save(bytes, if: condition, running.run(options)) {
        running.early(.json($0))
      }
    }.map { .json($0) }
  }
}

func storeSaveMany(
  _ store: OpaquePointer?, _ entities: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  let store = try StoreObject.borrow(store)
  let (options, condition) = try writeOptions(options)
  let entities = try entities.input()
  return Operation(on: store.client, isLocal: store.core.writesLocally(options)) {
    (running) throws(StoreError) in
    try entities.withBytes { (bytes) throws(StoreError) in
      try store.core.saveMany(bytes, if: condition, running.run(options)) {
        running.early(.saved($0))
      }
    }.map { .saved($0) }
  }
}

func storeRemoveByID(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, id) = (try StoreObject.borrow(store), try text(id, named: "id"))
  let (options, condition) = try writeOptions(options)
  return Operation(on: store.client, isLocal: store.core.writesLocally(options)) {
    (running) throws(StoreError) in
    try store.core.remove(id: id, if: condition, running.run(options)) {
      running.early(.count(Int64($0)))
    }.map { .count(Int64($0)) }
  }
}

func storeRemove(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let options = try callOptions(options)
  return Operation(on: store.client, isLocal: store.core.writesLocally(options)) {
    (running) throws(StoreError) in
    try store.core.remove(query, running.run(options)) { running.early(.count(Int64($0))) }
      .map { .count(Int64($0)) }
  }
}

func storeUpdate(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ update: JSONArgument,
  _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let (options, text) = (try callOptions(options), try update.text())
  let update = try store.core.parsedUpdate(text)
  return Operation(on: store.client, isLocal: store.core.writesLocally(options)) {
    (running) throws(StoreError) in
    try store.core.update(query, update, run: running.run(options)) {
      running.early(.json($0.json))
    }
    .map { .json($0.json) }
  }
}

func storeShare(
  _ store: OpaquePointer?, _ id: CString?, _ acl: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  try sharing(store, id, acl, options) { $0.giving }
}

func storeUnshare(
  _ store: OpaquePointer?, _ id: CString?, _ acl: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  try sharing(store, id, acl, options) { $0.taking }
}

private func sharing(
  _ store: OpaquePointer?, _ id: CString?, _ acl: JSONArgument, _ options: CString?,
  _ update: (Sharing) -> JSONValue
) throws(StoreError) -> Operation {
  let (store, id) = (try StoreObject.borrow(store), try text(id, named: "id"))
  let (options, rights) = (try callOptions(options), update(try Sharing(acl.object())))
  return Operation(on: store.client, isLocal: store.core.writesLocally(options)) {
    (running) throws(StoreError) in
    try store.core.share(id, rights, run: running.run(options)) { running.early(.nothing) }
      .map { _ in .nothing }
  }
}
