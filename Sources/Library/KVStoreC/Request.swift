public import CKVStore
internal import KVBase
internal import KVSync

@_cdecl("kv_request_wait") @implementation
public func kv_request_wait(
  _ request: OpaquePointer?, _ seconds: Double, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) -> kv_status in
    guard !seconds.isNaN else { throw StoreError(.invalid, "timeout_seconds is not a number.") }
    let deadline = Deadline.after(seconds: seconds)
    let outcome = try RequestObject.borrow(request).wait(until: deadline, asText: jsonOut != nil)
    try outcome.write(to: out)
    return outcome.status
  }
}

@_cdecl("kv_request_is_done") @implementation
public func kv_request_is_done(_ request: OpaquePointer?) -> Int32 {
  guard let request = try? RequestObject.borrow(request) else { return 1 }
  return request.isDone ? 1 : 0
}

@_cdecl("kv_request_cursor") @implementation
public func kv_request_cursor(
  _ request: OpaquePointer?, _ cursorOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(cursorOut, named: "cursor_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let request = try RequestObject.borrow(request)
    let cursor = CursorObject(try request.takeEntities(), client: request.client)
    out.write(try request.client.adopt(cursor))
  }
}

@_cdecl("kv_request_results") @implementation
public func kv_request_results(
  _ request: OpaquePointer?, _ resultsOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(resultsOut, named: "results_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let request = try RequestObject.borrow(request)
    let results = ResultsObject(try request.takeResults(), client: request.client)
    out.write(try request.client.adopt(results))
  }
}

@_cdecl("kv_request_cancel") @implementation
public func kv_request_cancel(_ request: OpaquePointer?) -> kv_status {
  perform(nil) { () throws(StoreError) in try RequestObject.borrow(request).cancellation.cancel() }
}

@_cdecl("kv_request_progress") @implementation
public func kv_request_progress(
  _ request: OpaquePointer?, _ progress: UnsafeMutablePointer<kv_progress>?
) -> kv_status {
  perform(nil) { () throws(StoreError) in
    guard let progress else { throw missing("progress") }
    // Later versions may grow the struct; this one knows no smaller one.
    guard progress.pointee.size >= MemoryLayout<kv_progress>.size else {
      throw StoreError(.misuse, "progress.size is not set.")
    }
    let now = try RequestObject.borrow(request).progress.snapshot
    progress.pointee.entities_done = now.entitiesDone
    progress.pointee.entities_total = now.entitiesTotal
    progress.pointee.bytes_done = now.bytesDone
    progress.pointee.bytes_total = now.bytesTotal
  }
}

@_cdecl("kv_request_free") @implementation
public func kv_request_free(_ request: OpaquePointer?) {
  guard let closed = try? RequestObject.close(request) else { return }
  closed.client.disown(Handle(request))
}
