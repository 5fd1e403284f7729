internal import CKVStore

@_cdecl("kv_version") @implementation
public func kv_version() -> UnsafePointer<CChar>! { nil }
