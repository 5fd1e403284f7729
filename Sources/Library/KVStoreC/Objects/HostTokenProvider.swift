internal import CKVStore
internal import Glibc
internal import KVSync

/// The host's function that gives tokens. It frees its context when nothing asks it any more.
final class HostTokenProvider: Sendable {
  private let callback: TokenCallback

  init(_ callback: TokenCallback) { self.callback = callback }

  deinit { callback.retire() }

  func token(_ request: TokenRequest) throws(StoreError) -> String {
    var given: UnsafeMutablePointer<CChar>?
    defer { free(given) }
    let isRefused: Int32 = request.isRefused ? 1 : 0
    let status = request.provider.withCString { provider in
      guard let former = request.former else {
        return callback.function(callback.context, provider, nil, isRefused, &given)
      }
      return former.withCString {
        callback.function(callback.context, provider, $0, isRefused, &given)
      }
    }
    guard status == Status.ok else {
      let kind = StoreError.Kind.allCases.first { $0.code == status } ?? .internal
      throw StoreError(kind, "The token provider gave \(kind.name).")
    }
    guard let given, let token = String(validatingCString: given) else {
      throw StoreError(.unauthorized, "The token provider gave no token.")
    }
    return token
  }
}
