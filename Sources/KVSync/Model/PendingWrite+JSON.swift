internal import KVBase
package import KVJSON

extension PendingWrite {
  /// As `kv_store_pending` documents it.
  package var jsonObject: JSONObject {
    let error = lastError.flatMap { try? JSONValue(parsing: $0) } ?? .null
    return JSONObject([
      .init("id", .string(id)), .init("operation", .string(operation.rawValue)),
      .init("createdAt", .string(createdAt.description)),
      .init("changedAt", .string(changedAt.description)),
      .init("attempts", .int(Int64(attempts))), .init("state", .string(state.rawValue)),
      .init("lastError", error),
    ])
  }

  /// The last failure; nil: none, or it cannot be read.
  package var error: StoreError? {
    guard let lastError, let json = try? JSONValue(parsing: lastError) else { return nil }
    return json.objectValue.flatMap(StoreError.init)
  }
}
