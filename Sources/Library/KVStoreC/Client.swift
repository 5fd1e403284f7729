public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

@_cdecl("kv_client_open") @implementation
public func kv_client_open(
  _ options: CString?, _ length: Int, _ clientOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(clientOut, named: "client_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let options = try JSONArgument(options, length, named: "options_json").object()
    out.write(try ClientObject.opened(options))
  }
}

@_cdecl("kv_client_close") @implementation
public func kv_client_close(_ client: OpaquePointer?) -> kv_status {
  guard client != nil else { return Status.ok }
  return perform(nil) { () throws(StoreError) in try ClientObject.close(client).close() }
}

@_cdecl("kv_salvage") @implementation
public func kv_salvage(
  _ options: CString?, _ length: Int, _ directory: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    let options = try JSONArgument(options, length, named: "options_json").object()
    let directory = try text(directory, named: "directory")
    try out.write(try Client.salvage(options, into: directory))
  }
}

@_cdecl("kv_client_repair") @implementation
public func kv_client_repair(
  _ client: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    let client = try ClientObject.borrow(client)
    let report = try client.during { () throws(StoreError) in try client.core.repair() }
    try out.write(JSONValue.object(report).bytes)
  }
}

@_cdecl("kv_client_event_fd") @implementation
public func kv_client_event_fd(
  _ client: OpaquePointer?, _ fdOut: UnsafeMutablePointer<Int32>?, _ errorOut: HandleOut?
) -> kv_status {
  fdOut?.pointee = -1
  return perform(errorOut) { () throws(StoreError) in
    let client = try ClientObject.borrow(client)
    guard let fdOut else { throw missing("fd_out") }
    guard let descriptor = client.callbacks.descriptor else { throw notPumped }
    fdOut.pointee = descriptor
  }
}

@_cdecl("kv_client_dispatch") @implementation
public func kv_client_dispatch(
  _ client: OpaquePointer?, _ limit: UInt32, _ countOut: UnsafeMutablePointer<UInt32>?,
  _ errorOut: HandleOut?
) -> kv_status {
  countOut?.pointee = 0
  return perform(errorOut) { () throws(StoreError) in
    let client = try ClientObject.borrow(client)
    guard client.callbacks.descriptor != nil else { throw notPumped }
    let count = client.callbacks.dispatch(limit == 0 ? nil : Int(limit))
    countOut?.pointee = count
  }
}

@_cdecl("kv_client_set_log") @implementation
public func kv_client_set_log(
  _ client: OpaquePointer?, _ level: Int32, _ log: kv_log_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ errorOut: HandleOut?
) -> kv_status {
  let callback = log.map { LogCallback($0, context, free: freeContext) }
  let status = perform(errorOut) { () throws(StoreError) in
    try ClientObject.borrow(client).setLog(callback, level: level)
  }
  // Without a function, or after a failure, there is nothing to call it later.
  if callback == nil || status != Status.ok { freeContext?(context) }
  return status
}

@_cdecl("kv_client_set_token_provider") @implementation
public func kv_client_set_token_provider(
  _ client: OpaquePointer?, _ provide: kv_token_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ errorOut: HandleOut?
) -> kv_status {
  let host = provide.map { HostTokenProvider(TokenCallback($0, context, free: freeContext)) }
  if host == nil { freeContext?(context) }
  return perform(errorOut) { () throws(StoreError) in
    let client = try ClientObject.borrow(client)
    guard let host else { return try client.core.setTokenProvider(nil) }
    try client.core.setTokenProvider { (request) throws(StoreError) in try host.token(request) }
  }
}

private var notPumped: StoreError {
  StoreError(.unsupported, "The client has a callback thread of its own.")
}

// MARK: Operations

func clientCompact(
  _ client: OpaquePointer?, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  return Operation(on: client) { (running) throws(StoreError) in
    let report = try client.core.compact(options, running.cancellation)
    return Answered(.json(report.json.bytes), isLocal: true)
  }
}

func clientBackup(
  _ client: OpaquePointer?, _ directory: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let directory = try text(directory, named: "directory")
  return Operation(on: client) { (running) throws(StoreError) in
    let report = try client.core.backUp(into: directory, options, running.cancellation)
    return Answered(.json(report.json.bytes), isLocal: true)
  }
}
