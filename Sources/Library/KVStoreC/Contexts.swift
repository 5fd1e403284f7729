public import CKVStore
internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVObjects
internal import KVQuery
internal import KVSync

@_cdecl("kv_context_open") @implementation
public func kv_context_open(
  _ client: OpaquePointer?, _ contextOptions: CString?, _ contextOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(contextOut, named: "context_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let client = try ClientObject.borrow(client)
    let core = try client.during { () throws(StoreError) in
      try client.core.objectContext(options(contextOptions))
    }
    out.write(try client.adopt(ContextObject(core, client: client)))
  }
}

@_cdecl("kv_context_close") @implementation
public func kv_context_close(_ context: OpaquePointer?) {
  guard let closed = try? ContextObject.close(context) else { return }
  closed.client.disown(Handle(context))
  closed.core.close()
}

// MARK: Objects

@_cdecl("kv_context_insert") @implementation
public func kv_context_insert(
  _ context: OpaquePointer?, _ collection: CString?, _ object: CString?, _ length: Int,
  _ idOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(idOut, lengthOut, named: "id_out")
  return within(context, errorOut) { (core) throws(StoreError) in
    let collection = try text(collection, named: "collection")
    let record = try JSONArgument(object, length, named: "object_json").bytes()
    let id = try core.insert(Array(record), into: collection)
    try out.write(Array(id.key.text.utf8))
  }
}

@_cdecl("kv_context_get") @implementation
public func kv_context_get(
  _ context: OpaquePointer?, _ collection: CString?, _ id: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return within(context, errorOut) { (core) throws(StoreError) in
    try out.require()
    let id = try objectID(collection, id)
    guard let body = try core.body(of: id) else {
      var error = StoreError(.notFound, "There is no object with this id.")
      error.id = id.key.text
      throw error
    }
    try out.write(body)
  }
}

@_cdecl("kv_context_update") @implementation
public func kv_context_update(
  _ context: OpaquePointer?, _ collection: CString?, _ id: CString?, _ members: CString?,
  _ length: Int, _ errorOut: HandleOut?
) -> kv_status {
  within(context, errorOut) { (core) throws(StoreError) in
    let record = try JSONArgument(members, length, named: "members_json").bytes()
    try core.update(objectID(collection, id), Array(record))
  }
}

@_cdecl("kv_context_set") @implementation
public func kv_context_set(
  _ context: OpaquePointer?, _ collection: CString?, _ id: CString?, _ object: CString?,
  _ length: Int, _ errorOut: HandleOut?
) -> kv_status {
  within(context, errorOut) { (core) throws(StoreError) in
    let record = try JSONArgument(object, length, named: "object_json").bytes()
    try core.update(objectID(collection, id), Array(record), replacingAll: true)
  }
}

@_cdecl("kv_context_delete") @implementation
public func kv_context_delete(
  _ context: OpaquePointer?, _ collection: CString?, _ id: CString?, _ errorOut: HandleOut?
) -> kv_status {
  within(context, errorOut) { (core) throws(StoreError) in
    try core.delete(objectID(collection, id))
  }
}

@_cdecl("kv_context_status") @implementation
public func kv_context_status(
  _ context: OpaquePointer?, _ collection: CString?, _ id: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  giving(context, jsonOut, lengthOut, errorOut) { (core) throws(StoreError) in
    .object(try core.status(of: objectID(collection, id)))
  }
}

@_cdecl("kv_context_changes") @implementation
public func kv_context_changes(
  _ context: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  giving(context, jsonOut, lengthOut, errorOut) { (core) throws(StoreError) in
    .object(try core.changes())
  }
}

// MARK: Lists

@_cdecl("kv_context_fetch") @implementation
public func kv_context_fetch(
  _ context: OpaquePointer?, _ collection: CString?, _ request: CString?, _ length: Int,
  _ query: OpaquePointer?, _ resultsOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(resultsOut, named: "results_out")
  return within(context, errorOut) { (core) throws(StoreError) in
    try out.require()
    let (collection, query) = (
      try text(collection, named: "collection"), try QueryObject.all(or: query)
    )
    var request =
      try JSONArgument(request, length, named: "request_json").optionalObject() ?? JSONObject()
    let fetching = try FetchingOptions(taking: &request)
    let results = try core.fetch(
      ResultsRequest(request, for: query), query, in: collection, options: fetching)
    try give(results, of: context, to: out)
  }
}

@_cdecl("kv_context_related") @implementation
public func kv_context_related(
  _ context: OpaquePointer?, _ collection: CString?, _ id: CString?, _ relationship: CString?,
  _ request: CString?, _ length: Int, _ resultsOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(resultsOut, named: "results_out")
  return within(context, errorOut) { (core) throws(StoreError) in
    try out.require()
    let (id, name) = (
      try objectID(collection, id), try text(relationship, named: "relationship")
    )
    let request = try JSONArgument(request, length, named: "request_json").optionalObject()
    let form = try ResultsRequest(request ?? JSONObject(), for: Query()).content
    let results: FetchedResults
    switch form {
    case .records: results = try core.objects(name, of: id)
    case .ids: results = try core.objects(name, of: id, asIDs: true)
    case .members, .groups, .count:
      throw StoreError(.invalid, "The resultType of a relationship is object or objectId.")
    }
    try give(results, of: context, to: out)
  }
}

@_cdecl("kv_context_relationships") @implementation
public func kv_context_relationships(
  _ context: OpaquePointer?, _ collection: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  giving(context, jsonOut, lengthOut, errorOut) { (core) throws(StoreError) in
    try core.relationships(of: text(collection, named: "collection"))
  }
}

// MARK: Interest

@_cdecl("kv_context_hold") @implementation
public func kv_context_hold(
  _ context: OpaquePointer?, _ ids: CString?, _ length: Int, _ errorOut: HandleOut?
) -> kv_status {
  within(context, errorOut) { (core) throws(StoreError) in
    guard let ids = try objectIDs(ids, length) else { throw missing("ids_json") }
    try core.hold(ids)
  }
}

@_cdecl("kv_context_release") @implementation
public func kv_context_release(
  _ context: OpaquePointer?, _ ids: CString?, _ length: Int, _ errorOut: HandleOut?
) -> kv_status {
  within(context, errorOut) { (core) throws(StoreError) in
    guard let ids = try objectIDs(ids, length) else { throw missing("ids_json") }
    try core.release(ids)
  }
}

@_cdecl("kv_context_refresh") @implementation
public func kv_context_refresh(
  _ context: OpaquePointer?, _ ids: CString?, _ length: Int, _ keepChanges: Int32,
  _ errorOut: HandleOut?
) -> kv_status {
  within(context, errorOut) { (core) throws(StoreError) in
    try core.refresh(objectIDs(ids, length), keepingChanges: keepChanges != 0)
  }
}

// MARK: Undo

@_cdecl("kv_context_undo_begin") @implementation
public func kv_context_undo_begin(_ context: OpaquePointer?, _ errorOut: HandleOut?) -> kv_status {
  within(context, errorOut) { (core) throws(StoreError) in try core.beginUndoGroup() }
}

@_cdecl("kv_context_undo_end") @implementation
public func kv_context_undo_end(_ context: OpaquePointer?, _ errorOut: HandleOut?) -> kv_status {
  within(context, errorOut) { (core) throws(StoreError) in try core.endUndoGroup() }
}

@_cdecl("kv_context_undo") @implementation
public func kv_context_undo(_ context: OpaquePointer?, _ errorOut: HandleOut?) -> kv_status {
  status(errorOut) { () throws(StoreError) -> kv_status in
    try during(context) { (core) throws(StoreError) in try core.undo() } ? Status.ok : Status.done
  }
}

@_cdecl("kv_context_redo") @implementation
public func kv_context_redo(_ context: OpaquePointer?, _ errorOut: HandleOut?) -> kv_status {
  status(errorOut) { () throws(StoreError) -> kv_status in
    try during(context) { (core) throws(StoreError) in try core.redo() } ? Status.ok : Status.done
  }
}

@_cdecl("kv_context_rollback") @implementation
public func kv_context_rollback(_ context: OpaquePointer?, _ errorOut: HandleOut?) -> kv_status {
  within(context, errorOut) { (core) throws(StoreError) in try core.rollback() }
}

// MARK: Saving

@_cdecl("kv_context_save") @implementation
public func kv_context_save(
  _ context: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return within(context, errorOut) { (core) throws(StoreError) in
    let result = try core.save()
    if jsonOut != nil { try out.write(result.json) }
  }
}

@_cdecl("kv_context_save_deciding") @implementation
public func kv_context_save_deciding(
  _ context: OpaquePointer?, _ decide: kv_merge_fn?, _ user: UnsafeMutableRawPointer?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return within(context, errorOut) { (core) throws(StoreError) in
    guard let decide else { throw missing("decide") }
    let client = try ContextObject.borrow(context).client
    let result = try core.save { (conflict) throws(StoreError) in
      try client.suspended { () throws(StoreError) in
        (conflict.json + [0]).withUnsafeBytes {
          decide(user, context, $0.assumingMemoryBound(to: CChar.self).baseAddress)
        }
      }
    }
    if jsonOut != nil { try out.write(result.json) }
  }
}

@_cdecl("kv_context_conflicts") @implementation
public func kv_context_conflicts(
  _ context: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return within(context, errorOut) { (core) throws(StoreError) in
    try out.require()
    try out.write(try core.conflictsText())
  }
}

@_cdecl("kv_context_resolve") @implementation
public func kv_context_resolve(
  _ context: OpaquePointer?, _ collection: CString?, _ id: CString?, _ resolution: CString?,
  _ length: Int, _ errorOut: HandleOut?
) -> kv_status {
  within(context, errorOut) { (core) throws(StoreError) in
    let answer = try JSONArgument(resolution, length, named: "resolution_json").object()
    try core.resolve(objectID(collection, id), answer)
  }
}

@_cdecl("kv_context_obtain_ids") @implementation
public func kv_context_obtain_ids(
  _ context: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return within(context, errorOut) { (core) throws(StoreError) in
    var result = ContextSaveResult()
    result.permanentIDs = try core.obtainPermanentIDs()
    if jsonOut != nil { try out.write(JSONValue.array(result.permanentIDsJSON).bytes) }
  }
}

// MARK: Names

@_cdecl("kv_context_describe") @implementation
public func kv_context_describe(
  _ context: OpaquePointer?, _ collection: CString?, _ id: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  giving(context, jsonOut, lengthOut, errorOut) { (core) throws(StoreError) in
    .object(try core.description(of: objectID(collection, id)))
  }
}

@_cdecl("kv_context_locate") @implementation
public func kv_context_locate(
  _ context: OpaquePointer?, _ uri: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  giving(context, jsonOut, lengthOut, errorOut) { (core) throws(StoreError) in
    .object(try core.description(of: core.id(ofURI: text(uri, named: "uri"))))
  }
}

@_cdecl("kv_context_statistics") @implementation
public func kv_context_statistics(
  _ context: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  giving(context, jsonOut, lengthOut, errorOut) { (core) throws(StoreError) in
    .object(try core.statistics().json)
  }
}

// MARK: Shared

private func during<R>(
  _ context: OpaquePointer?, _ body: (ObjectContext) throws(StoreError) -> R
) throws(StoreError) -> R {
  let context = try ContextObject.borrow(context)
  return try context.client.during { () throws(StoreError) in try body(context.core) }
}

/// Runs the body of an entry point that works on a context.
private func within(
  _ context: OpaquePointer?, _ errorOut: HandleOut?,
  _ body: (ObjectContext) throws(StoreError) -> Void
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in try during(context, body) }
}

/// The same for one whose result is JSON, which the caller has to take.
private func giving(
  _ context: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?,
  _ body: (ObjectContext) throws(StoreError) -> JSONValue
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return within(context, errorOut) { (core) throws(StoreError) in
    try out.require()
    try out.write(try body(core).bytes)
  }
}

private func give(
  _ results: FetchedResults, of context: OpaquePointer?, to out: HandleOutput
) throws(StoreError) {
  let client = try ContextObject.borrow(context).client
  out.write(try client.adopt(ResultsObject(results, client: client)))
}

private func objectID(_ collection: CString?, _ id: CString?) throws(StoreError) -> ObjectID {
  ObjectID(try text(collection, named: "collection"), try text(id, named: "id"))
}

/// `[{"collection","id"}]`; nil for NULL.
private func objectIDs(_ json: CString?, _ length: Int) throws(StoreError) -> [ObjectID]? {
  guard let text = try JSONArgument(json, length, named: "ids_json").optionalText() else {
    return nil
  }
  let invalid = StoreError(.invalid, "ids_json is no array of objects with collection and id.")
  guard let list = (try? JSONValue(parsing: text))?.arrayValue else { throw invalid }
  return try list.map { (value) throws(StoreError) in
    guard let collection = value["collection"]?.stringValue, let id = value["id"]?.stringValue
    else { throw invalid }
    return ObjectID(collection, id)
  }
}
