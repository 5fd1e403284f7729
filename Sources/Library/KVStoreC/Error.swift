public import CKVStore
internal import KVSync

// Pointers to texts stay valid after the look-up because the caller's handle keeps the object.

@_cdecl("kv_error_status") @implementation
public func kv_error_status(_ error: OpaquePointer?) -> kv_status {
  do throws(StoreError) { return try ErrorObject.borrow(error).status } catch {
    return error.kind.code
  }
}

@_cdecl("kv_error_message") @implementation
public func kv_error_message(_ error: OpaquePointer?) -> UnsafePointer<CChar>? {
  (try? ErrorObject.borrow(error))?.message ?? ErrorTexts.noMessage
}

@_cdecl("kv_error_json") @implementation
public func kv_error_json(_ error: OpaquePointer?) -> UnsafePointer<CChar>? {
  (try? ErrorObject.borrow(error))?.json ?? ErrorTexts.noJSON
}

@_cdecl("kv_error_free") @implementation
public func kv_error_free(_ error: OpaquePointer?) { _ = try? ErrorObject.close(error) }

/// What a handle that is no error gives.
private enum ErrorTexts {
  nonisolated(unsafe) static let noMessage = LibraryTexts.lasting("")
  nonisolated(unsafe) static let noJSON = LibraryTexts.lasting("{}")
}
