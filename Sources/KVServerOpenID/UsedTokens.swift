internal import KVBase
internal import KVServerCore

/// The id tokens that programs have brought to this server: each is good for one login here, also when the settings of its provider
/// are read again. Safe from any thread.
///
/// A token is known by what is signed, since there are several signatures of the same. It is kept until it is too old anyway.
package final class UsedTokens: Sendable {
  /// How many are kept: 166 logins a second for ten minutes. With more of them, others have to wait.
  private static let limit = 100_000

  private struct State {
    /// Until when each is kept, in seconds since 1970.
    var ends: [[UInt8]: Int64] = [:]
    var lastSweep: Int64 = .min
  }

  private let state = Monitor(State())

  package init() {}

  /// Notes the use of a token. `digest`: of what is signed; `end`: when nobody can use it any more, and `now`, both in seconds
  /// since 1970.
  func use(_ digest: [UInt8], until end: Int64, at now: Int64) throws(IdentityFailure) {
    let isNew = state.withLock { state -> Bool? in
      if state.ends[digest] != nil { return false }
      if state.ends.count >= Self.limit, state.lastSweep != now {
        state.lastSweep = now
        state.ends = state.ends.filter { $0.value >= now }
      }
      guard state.ends.count < Self.limit else { return nil }
      state.ends[digest] = end
      return true
    }
    switch isNew {
    case true?: return
    case false?: throw .refused("the id token was used before")
    case nil: throw .unavailable("too many id tokens are used at the same time")
    }
  }

  /// Forgets the use of a token: the login that it was noted for has failed.
  func release(_ digest: [UInt8]) {
    state.withLock { _ = $0.ends.removeValue(forKey: digest) }
  }
}
