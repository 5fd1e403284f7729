internal import CKVStore
internal import Glibc
internal import KVSync

/// Runs the body of an entry point and turns what it throws into a status and, if wanted, an
/// error object. `error_out` receives NULL otherwise.
///
/// Meanwhile the thread cannot be cancelled by `pthread_cancel`: it would end with locks in its hands.
func status(
  _ errorOut: HandleOut?, _ body: () throws(StoreError) -> kv_status
) -> kv_status {
  var former: Int32 = 0
  pthread_setcancelstate(Int32(PTHREAD_CANCEL_DISABLE), &former)
  defer { pthread_setcancelstate(former, nil) }
  errorOut?.pointee = nil
  do throws(StoreError) { return try body() } catch { return report(error, to: errorOut) }
}

/// The same for a body that has nothing to say but that it is done.
func perform(_ errorOut: HandleOut?, _ body: () throws(StoreError) -> Void) -> kv_status {
  status(errorOut) { () throws(StoreError) -> kv_status in
    try body()
    return Status.ok
  }
}

/// If no handle can be made for the error, the status alone reports it.
private func report(_ error: StoreError, to errorOut: HandleOut?) -> kv_status {
  if let errorOut {
    errorOut.pointee = HandleTable.open(ErrorObject(error), as: .error)?.pointer
  }
  return error.kind.code
}
