internal import KVBase
internal import KVServerCore

/// The id tokens that programs have brought to this server: each is good for one login here, also when the settings of its provider
/// are read again. Safe from any thread.
///
/// A token is known by what is signed, since there are several signatures of the same. It is kept until it is too old. Afterwards
/// those of its issuer that were made then or earlier stay too old, also when the settings allow older ones from then on: which of
/// them were used is not known any more.
package final class UsedTokens: Sendable {
  /// How many are kept: 166 logins a second for ten minutes. With more of them, others have to wait.
  private static let limit = 100_000

  /// A token that is proven. `made`: when, in seconds since 1970.
  struct Token {
    let digest: [UInt8]
    let issuer: String
    let made: Int64
  }

  private struct Use {
    let issuer: RecordID
    let made: Int64
    /// Until when it is kept, in seconds since 1970.
    let end: Int64
  }

  private struct State {
    var uses: [[UInt8]: Use] = [:]
    /// When the last of each issuer's tokens that were forgotten was made.
    var forgotten: [RecordID: Int64] = [:]
    var lastSweep: Int64 = .min

    mutating func sweep(at now: Int64) {
      lastSweep = now
      for use in uses.values where use.end < now {
        forgotten[use.issuer] = max(forgotten[use.issuer] ?? .min, use.made)
      }
      uses = uses.filter { $0.value.end >= now }
    }
  }

  private let state = Monitor(State())

  package init() {}

  /// Notes the use of a token. `seconds`: how old it may be; `now`: in seconds since 1970.
  func use(_ token: Token, for seconds: Int64, at now: Int64) throws(IdentityFailure) {
    let issuer = RecordID(token.issuer)
    let problem = state.withLock { state -> IdentityFailure? in
      if state.uses[token.digest] != nil { return .refused("the id token was used before") }
      if state.uses.count >= Self.limit, state.lastSweep != now { state.sweep(at: now) }
      if let last = state.forgotten[issuer], token.made <= last {
        return .refused("the id token was too old already (iat)")
      }
      guard state.uses.count < Self.limit else {
        return .unavailable("too many id tokens are used at the same time")
      }
      let end = token.made.addingReportingOverflow(seconds)
      state.uses[token.digest] = Use(
        issuer: issuer, made: token.made, end: end.overflow ? .max : end.partialValue)
      return nil
    }
    if let problem { throw problem }
  }

  /// Forgets the use of a token: the login that it was noted for has failed.
  func release(_ digest: [UInt8]) {
    state.withLock { _ = $0.uses.removeValue(forKey: digest) }
  }
}
