public import CKVStore
internal import KVQuery
internal import KVSync

@_cdecl("kv_query_create") @implementation
public func kv_query_create(
  _ filter: CString?, _ filterLength: Int, _ modifiers: CString?, _ modifiersLength: Int,
  _ queryOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(queryOut, named: "query_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let filter = try JSONArgument(filter, filterLength, named: "filter_json").optionalText()
    let modifiers = try JSONArgument(modifiers, modifiersLength, named: "modifiers_json")
      .optionalText()
    out.write(try QueryObject(query(filter: filter, modifiers: modifiers)).open())
  }
}

@_cdecl("kv_query_from_format") @implementation
public func kv_query_from_format(
  _ format: CString?, _ arguments: CString?, _ argumentsLength: Int, _ modifiers: CString?,
  _ modifiersLength: Int, _ queryOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(queryOut, named: "query_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let format = try text(format, named: "format")
    let arguments = try JSONArgument(arguments, argumentsLength, named: "arguments_json")
      .optionalText()
    let modifiers = try JSONArgument(modifiers, modifiersLength, named: "modifiers_json")
      .optionalText()
    let query = try query(format: format, arguments: arguments, modifiers: modifiers)
    out.write(try QueryObject(query).open())
  }
}

@_cdecl("kv_query_combine") @implementation
public func kv_query_combine(
  _ combination: CString?, _ queries: UnsafePointer<OpaquePointer?>?, _ count: Int,
  _ modifiers: CString?, _ modifiersLength: Int, _ queryOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(queryOut, named: "query_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    guard let queries else { throw missing("queries") }
    let parts = try UnsafeBufferPointer(start: queries, count: max(0, count)).map {
      (handle) throws(StoreError) in try QueryObject.all(or: handle)
    }
    let modifiers = try JSONArgument(modifiers, modifiersLength, named: "modifiers_json")
      .optionalText()
    let name = try text(combination, named: "combination")
    guard let combination = Query.Combination(rawValue: name) else {
      throw StoreError(.invalid, "A combination must be \"and\", \"or\" or \"not\".")
    }
    out.write(try QueryObject(query(combination, of: parts, modifiers: modifiers)).open())
  }
}

@_cdecl("kv_query_format") @implementation
public func kv_query_format(
  _ query: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    try out.write(Array(QueryObject.borrow(query).query.formatText.utf8))
  }
}

@_cdecl("kv_query_json") @implementation
public func kv_query_json(
  _ query: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    try out.write(Array(QueryObject.borrow(query).query.text.utf8))
  }
}

@_cdecl("kv_query_free") @implementation
public func kv_query_free(_ query: OpaquePointer?) { _ = try? QueryObject.close(query) }

private func query(
  format: String, arguments: String?, modifiers: String?
) throws(StoreError) -> Query {
  do throws(QueryError) {
    return try Query(format: format, arguments: arguments, modifiers: modifiers)
  } catch {
    throw StoreError(error)
  }
}

private func query(filter: String?, modifiers: String?) throws(StoreError) -> Query {
  do throws(QueryError) { return try Query.shared(filter: filter, modifiers: modifiers) } catch {
    throw StoreError(error)
  }
}

private func query(
  _ combination: Query.Combination, of parts: [Query], modifiers: String?
) throws(StoreError) -> Query {
  do throws(QueryError) {
    return try Query(combination, of: parts, modifiers: modifiers)
  } catch {
    throw StoreError(error)
  }
}
