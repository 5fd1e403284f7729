package import KVJSON

extension StoreError.Kind {
  /// The value of the `kv_status` of the same meaning.
  package var code: Int32 {
    switch self {
    case .misuse: 10
    case .invalid: 11
    case .notFound: 12
    case .conflict: 13
    case .noUser: 14
    case .unauthorized: 15
    case .forbidden: 16
    case .pending: 17
    case .unsupported: 18
    case .network: 20
    case .timeout: 21
    case .cancelled: 22
    case .server: 23
    case .proto: 24
    case .tooLarge: 25
    case .storage: 30
    case .corrupt: 31
    case .full: 32
    case .busy: 33
    case .internal: 90
    }
  }

  /// The name of that status.
  package var name: String {
    switch self {
    case .misuse: "KV_MISUSE"
    case .invalid: "KV_INVALID"
    case .notFound: "KV_NOT_FOUND"
    case .conflict: "KV_CONFLICT"
    case .noUser: "KV_NO_USER"
    case .unauthorized: "KV_UNAUTHORIZED"
    case .forbidden: "KV_FORBIDDEN"
    case .pending: "KV_PENDING"
    case .unsupported: "KV_UNSUPPORTED"
    case .network: "KV_NETWORK"
    case .timeout: "KV_TIMEOUT"
    case .cancelled: "KV_CANCELLED"
    case .server: "KV_SERVER"
    case .proto: "KV_PROTOCOL"
    case .tooLarge: "KV_TOO_LARGE"
    case .storage: "KV_STORAGE"
    case .corrupt: "KV_CORRUPT"
    case .full: "KV_FULL"
    case .busy: "KV_BUSY"
    case .internal: "KV_INTERNAL"
    }
  }
}

extension StoreError {
  /// Everything known, as `kv_error_json` documents it: members that do not apply are absent.
  package var jsonObject: JSONObject {
    var object = JSONObject([
      .init("status", .int(Int64(kind.code))), .init("name", .string(kind.name)),
      .init("message", .string(message)),
    ])
    object["http"] = answer.map { .int(Int64($0.status)) }
    object["error"] = answer?.error.map { .string($0) }
    object["description"] = answer?.description.map { .string($0) }
    object["debug"] = answer?.debug.map { .string($0) }
    object["requestId"] = answer?.requestId.map { .string($0) }
    object["index"] = index.map { .int(Int64($0)) }
    object["id"] = id.map { .string($0) }
    object["position"] = position.map { .int(Int64($0)) }
    object["code"] = code.map { .int(Int64($0)) }
    return object
  }

  /// The same as compact text: what a failed pending write keeps.
  package var json: String { jsonObject.text }
}
