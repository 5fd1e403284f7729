internal import CKVStore

/// The statuses that are no failures.
enum Status {
  static let ok: kv_status = numericCast(KV_OK)
  static let partial: kv_status = numericCast(KV_PARTIAL)
  static let done: kv_status = numericCast(KV_DONE)
}
