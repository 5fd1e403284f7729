// Made by scripts/generate_abi.py from include/kvstore.h: do not edit.

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
    case .key: 34
    case .internal: 90
    case .certificate: 26
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
    case .key: "KV_KEY"
    case .internal: "KV_INTERNAL"
    case .certificate: "KV_CERTIFICATE"
    }
  }
}
