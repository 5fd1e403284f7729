public import CKVStore
internal import KVCallback
internal import KVJSON
internal import KVSync

@_cdecl("kv_backend_register") @implementation
public func kv_backend_register(
  _ name: CString?, _ description: CString?, _ length: Int,
  _ functions: UnsafePointer<kv_backend>?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let host: HostBackend
    let known: BackendDescription
    let registered: String
    do throws(StoreError) {
      registered = try text(name, named: "name")
      known = try BackendDescription(
        JSONArgument(description, length, named: "description_json").optionalObject() ?? [:])
      let table = try backendTable(functions)
      host = HostBackend(
        table.functions, cancel: table.cancel, context, freeContext,
        requestsAtOnce: known.requestsAtOnce)
    } catch {
      freeContext?(context)
      throw error
    }
    // From here on the context is freed with `host`.
    let backend = CallbackBackend(registered, known, handler: host)
    try BackendRegistry.shared.register(registered) { _ in backend.opened }
  }
}

@_cdecl("kv_backend_unregister") @implementation
public func kv_backend_unregister(_ name: CString?, _ errorOut: HandleOut?) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let name = try text(name, named: "name")
    guard BackendRegistry.shared.unregister(name) else {
      throw StoreError(.notFound, "No backend is registered as \"\(name)\".")
    }
  }
}

@_cdecl("kv_backend_complete") @implementation
public func kv_backend_complete(
  _ request: UInt64, _ status: kv_status, _ json: CString?, _ length: Int, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let bytes = try JSONArgument(json, length, named: "json").optionalBytes()
    let completion =
      if status == Status.ok {
        PendingRequests.complete(
          request, with: bytes ?? UnsafeRawBufferPointer(start: nil, count: 0))
      } else {
        PendingRequests.complete(
          request, failing: StoreError(hostStatus: status, details(bytes)))
      }
    switch completion {
    case .accepted: return
    case .unknown:
      throw StoreError(.notFound, "The request \(request) does not exist, or has ended.")
    case .tooLarge: throw StoreError(.tooLarge, "The answer is larger than \"maxAnswerBytes\".")
    }
  }
}

@_cdecl("kv_backend_is_waiting") @implementation
public func kv_backend_is_waiting(_ request: UInt64) -> Int32 {
  PendingRequests.isWaiting(request) ? 1 : 0
}

/// The bytes of an error's details that are looked at, at the most.
private let maxDetails = 1 << 16

private func details(_ bytes: UnsafeRawBufferPointer?) -> [UInt8] {
  guard let bytes, bytes.count <= maxDetails else { return [] }
  return Array(bytes)
}

private func backendTable(
  _ functions: UnsafePointer<kv_backend>?
) throws(StoreError) -> (
  functions: [BackendOperation: kv_backend_fn], cancel: kv_backend_cancel_fn?
) {
  guard let functions else { throw missing("functions") }
  let table = copy(functions, size: functions.pointee.size, kv_backend())
  guard let fetch = table.fetch, let fetchIDs = table.fetch_ids, let write = table.write else {
    throw StoreError(.invalid, "A backend must have the functions fetch, fetch_ids and write.")
  }
  var found: [BackendOperation: kv_backend_fn] = [
    .fetch: fetch, .fetchIDs: fetchIDs, .write: write,
  ]
  found[.changes] = table.changes
  found[.live] = table.live
  return (found, table.cancel)
}

/// A copy of what the host has given, which may have been compiled with an older or a newer header: what its table
/// lacks is NULL, what it has beyond ours is ignored.
func copy<Table: BitwiseCopyable>(
  _ table: UnsafePointer<Table>, size: UInt32, _ empty: Table
) -> Table {
  var copied = empty
  withUnsafeMutableBytes(of: &copied) {
    $0.copyMemory(
      from: UnsafeRawBufferPointer(
        start: table, count: min(Int(size), MemoryLayout<Table>.size)))
  }
  return copied
}
