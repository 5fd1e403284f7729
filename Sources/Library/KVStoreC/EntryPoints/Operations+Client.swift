// Made by scripts/generate_abi.py from include/kvstore.h: do not edit.

public import CKVStore
internal import KVSync

@_cdecl("kv_client_compact") @implementation
public func kv_client_compact(
  _ client: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try clientCompact(client, options).run(into: out)
  }
}

@_cdecl("kv_client_compact_async") @implementation
public func kv_client_compact_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try clientCompact(client, options)
  }
}

@_cdecl("kv_client_backup") @implementation
public func kv_client_backup(
  _ client: OpaquePointer?, _ directory: CString?, _ options: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut, named: "json_out")
  return status(errorOut) { () throws(StoreError) in
    try clientBackup(client, directory, options).run(into: out)
  }
}

@_cdecl("kv_client_backup_async") @implementation
public func kv_client_backup_async(
  _ client: OpaquePointer?, _ directory: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?, _ requestOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try clientBackup(client, directory, options)
  }
}
