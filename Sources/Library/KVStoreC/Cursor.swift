public import CKVStore
internal import KVSync

@_cdecl("kv_cursor_next") @implementation
public func kv_cursor_next(
  _ cursor: OpaquePointer?, _ jsonOut: LentOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = LentOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) -> kv_status in
    try out.require()
    guard let text = try CursorObject.borrow(cursor).next() else { return Status.done }
    out.lend(text)
    return Status.ok
  }
}

@_cdecl("kv_cursor_next_page") @implementation
public func kv_cursor_next_page(
  _ cursor: OpaquePointer?, _ limit: UInt32, _ jsonOut: LentOut?, _ lengthOut: LengthOut?,
  _ countOut: UnsafeMutablePointer<UInt32>?, _ errorOut: HandleOut?
) -> kv_status {
  let out = LentOutput(jsonOut, lengthOut)
  countOut?.pointee = 0
  return status(errorOut) { () throws(StoreError) -> kv_status in
    try out.require()
    let page = try CursorObject.borrow(cursor).nextPage(limit == 0 ? .max : Int(limit))
    out.lend(page.text)
    countOut?.pointee = page.count
    return page.count == 0 ? Status.done : Status.ok
  }
}

@_cdecl("kv_cursor_close") @implementation
public func kv_cursor_close(_ cursor: OpaquePointer?) {
  guard let closed = try? CursorObject.close(cursor) else { return }
  closed.client?.disown(Handle(cursor))
}
