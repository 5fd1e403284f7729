public import CKVStore
internal import KVClient
internal import KVSync

@_cdecl("kv_store_save") @implementation
public func kv_store_save(
  _ store: OpaquePointer?, _ entity: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try save(store, entity, length, options, for: .call).run(givingTo: out)
  }
}

@_cdecl("kv_store_save_async") @implementation
public func kv_store_save_async(
  _ store: OpaquePointer?, _ entity: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try save(store, entity, length, options, for: .operation)
  }
}

@_cdecl("kv_store_save_many") @implementation
public func kv_store_save_many(
  _ store: OpaquePointer?, _ entities: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try saveMany(store, entities, length, options, for: .call).run(givingTo: out)
  }
}

@_cdecl("kv_store_save_many_async") @implementation
public func kv_store_save_many_async(
  _ store: OpaquePointer?, _ entities: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try saveMany(store, entities, length, options, for: .operation)
  }
}

@_cdecl("kv_store_remove_by_id") @implementation
public func kv_store_remove_by_id(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?, _ countOut: CountOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut)
  return status(errorOut) { () throws(StoreError) in
    try removeById(store, id, options).run(givingTo: out)
  }
}

@_cdecl("kv_store_remove_by_id_async") @implementation
public func kv_store_remove_by_id_async(
  _ store: OpaquePointer?, _ id: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try removeById(store, id, options)
  }
}

@_cdecl("kv_store_remove") @implementation
public func kv_store_remove(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ countOut: CountOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut)
  return status(errorOut) { () throws(StoreError) in
    try remove(store, query, options).run(givingTo: out)
  }
}

@_cdecl("kv_store_remove_async") @implementation
public func kv_store_remove_async(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try remove(store, query, options)
  }
}

@_cdecl("kv_store_update") @implementation
public func kv_store_update(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ update: CString?, _ length: Int,
  _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try KVStoreC.update(store, query, update, length, options).run(givingTo: out)
  }
}

@_cdecl("kv_store_update_async") @implementation
public func kv_store_update_async(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ update: CString?, _ length: Int,
  _ options: CString?, _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try KVStoreC.update(store, query, update, length, options)
  }
}

@_cdecl("kv_store_version") @implementation
public func kv_store_version(
  _ store: OpaquePointer?, _ id: CString?, _ versionOut: CountOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(versionOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let (store, id) = (try StoreObject.borrow(store), try text(id, named: "id"))
    try store.client.during { () throws(StoreError) in
      out.give(Int(try store.core.version(of: id)))
    }
  }
}

// MARK: Operations

private func save(
  _ store: OpaquePointer?, _ entity: CString?, _ length: Int, _ options: CString?,
  for lifetime: JSONInput.Lifetime
) throws(StoreError) -> Operation {
  let store = try StoreObject.borrow(store)
  let (options, condition) = try writeOptions(options)
  let entity = try JSONInput(entity, length, named: "entity_json", for: lifetime)
  return Operation(on: store.client, isLocal: store.core.writesLocally(options)) {
    (running) throws(StoreError) in
    try entity.withBytes { (bytes) throws(StoreError) in
      try store.core.save(bytes, if: condition, running.run(options)) {
        running.early(.json($0))
      }
    }.map { .json($0) }
  }
}

private func saveMany(
  _ store: OpaquePointer?, _ entities: CString?, _ length: Int, _ options: CString?,
  for lifetime: JSONInput.Lifetime
) throws(StoreError) -> Operation {
  let store = try StoreObject.borrow(store)
  let (options, condition) = try writeOptions(options)
  let entities = try JSONInput(entities, length, named: "entities_json", for: lifetime)
  return Operation(on: store.client, isLocal: store.core.writesLocally(options)) {
    (running) throws(StoreError) in
    try entities.withBytes { (bytes) throws(StoreError) in
      try store.core.saveMany(bytes, if: condition, running.run(options)) {
        running.early(Outcome($0))
      }
    }.map { Outcome($0) }
  }
}

private func removeById(
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

private func remove(
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

private func update(
  _ store: OpaquePointer?, _ query: OpaquePointer?, _ update: CString?, _ length: Int,
  _ options: CString?
) throws(StoreError) -> Operation {
  let (store, query) = (try StoreObject.borrow(store), try QueryObject.all(or: query))
  let (options, text) = (try callOptions(options), try updateText(update, length))
  let update = try store.core.parsedUpdate(text)
  return Operation(on: store.client, isLocal: store.core.writesLocally(options)) {
    (running) throws(StoreError) in
    try store.core.update(query, update, running.run(options)) { running.early(.json($0.json)) }
      .map { .json($0.json) }
  }
}

extension Outcome {
  /// Partial if some failed.
  fileprivate init(_ result: SaveManyResult) {
    self = result.errors.isEmpty ? .json(result.json) : .partial(result.json)
  }
}
