internal import KVBase

/// Slows down who guesses passwords: after some failures, attempts for a name and from an address have to wait, longer
/// each time. Safe from any thread; memory is bounded.
///
/// No user is locked out for good. Counts decay; a client that has to wait because of what others did to the name is
/// told how long, and then may try, whatever they have done meanwhile; and a user does not wait for others where
/// that user has logged in before. So an attacker elsewhere costs the owner of a name half a minute at most, once.
final class LoginThrottle: Sendable {
  private let state = Monitor(State())
  private let milliseconds: @Sendable () -> Int64

  /// Creates a throttle. `now` gives the time in nanoseconds, monotonically.
  init(now: @escaping @Sendable () -> Int64) { milliseconds = { now() / 1_000_000 } }

  /// An attempt to log in: for whom and from where.
  struct Attempt: Sendable {
    fileprivate let name: Int
    fileprivate let address: Int
    fileprivate let pair: Int

    // Hashes with a seed of this process. Two keys with the same hash share their counts; an attacker cannot provoke that.
    init(app: Int64, name: String, from address: ClientAddress) {
      let name = RecordID(name)
      self.name = Self.hash(app, name)
      self.address = Self.hash(address)
      pair = Self.hash(app, name, address)
    }

    private static func hash(_ parts: any Hashable...) -> Int {
      var hasher = Hasher()
      for part in parts { hasher.combine(part) }
      return hasher.finalize()
    }
  }

  /// How many seconds an attempt has to wait; nil: it may be made. `failed` or `succeeded` must follow.
  func wait(for attempt: Attempt) -> Int? {
    let now = milliseconds()
    let rest = state.withLock { $0.mayTry(attempt, now) } - now
    return rest > 0 ? Int((rest + 999) / 1000) : nil
  }

  func failed(_ attempt: Attempt) {
    let now = milliseconds()
    state.withLock { $0.fail(attempt, now) }
  }

  /// What failed for the name and from the address is not forgiven: an attacker may have an account, too.
  func succeeded(_ attempt: Attempt) {
    state.withLock { state in
      state.pairs[attempt.pair] = nil
      state.trusted[attempt.pair] = true
    }
  }

  // MARK: Secrets of apps

  /// How many seconds clients at an address have to wait until their next secret is looked at; nil: not at all. Only the
  /// address counts: all clients of an app have its key, and one of them must not keep the others waiting.
  func waitForSecrets(from address: ClientAddress) -> Int? {
    let now = milliseconds()
    let key = Self.secrets(from: address)
    let rest = state.withLock { $0.addresses[key]?.mayTryAt ?? 0 } - now
    return rest > 0 ? Int((rest + 999) / 1000) : nil
  }

  /// A secret that came from an address was wrong.
  func failedSecret(from address: ClientAddress) {
    let now = milliseconds()
    state.withLock { $0.failSecret(Self.secrets(from: address), now) }
  }

  private static func secrets(from address: ClientAddress) -> Int {
    var hasher = Hasher()
    hasher.combine("secret")
    hasher.combine(address)
    return hasher.finalize()
  }

  // MARK: Counting

  /// How many failures cost nothing, how fast they are forgiven, and what they cost at most.
  private struct Limits {
    var freeFailures: Int64
    /// The longest delay in seconds, as a power of two.
    var maxDelayBits: Int64

    /// Also of a name at one address.
    static let name = Limits(freeFailures: 5, maxDelayBits: 5)
    /// Many people may be behind one address.
    static let address = Limits(freeFailures: 20, maxDelayBits: 6)
    /// Milliseconds in which one failure is forgiven.
    static let leak: Int64 = 60_000
  }

  /// Failures that leak away: `level` is what they take to do so, in milliseconds, at `time`.
  private struct Failures {
    private var level: Int64 = 0
    private var time: Int64 = 0
    /// Until then no attempt is allowed.
    var mayTryAt: Int64 = 0

    mutating func add(_ limits: Limits, _ now: Int64) {
      let limit = (limits.freeFailures + limits.maxDelayBits) * Limits.leak
      level = min(left(now) + Limits.leak, limit)
      time = now
    }

    /// How long the next attempt has to wait, in milliseconds: nothing, or 1 s, 2 s, 4 s …
    func delay(_ limits: Limits, _ now: Int64) -> Int64 {
      let failures = (left(now) + Limits.leak - 1) / Limits.leak
      let excess = failures - limits.freeFailures
      return excess < 0 ? 0 : 1000 << excess
    }

    private func left(_ now: Int64) -> Int64 { max(0, level - (now - time)) }
  }

  private struct State {
    private static let limit = 10_000

    var names = RecentTable<Failures>(limit: limit)
    var addresses = RecentTable<Failures>(limit: limit)
    /// The failures of one name at one address.
    var pairs = RecentTable<Failures>(limit: limit)
    /// Pairs that have logged in.
    var trusted = RecentTable<Bool>(limit: limit)

    /// Decides whether an attempt may be made now.
    mutating func mayTry(_ attempt: Attempt, _ now: Int64) -> Int64 {
      let pair = pairs[attempt.pair]
      if trusted[attempt.pair] != nil { return pair?.mayTryAt ?? 0 }
      let address = addresses[attempt.address]?.mayTryAt ?? 0
      if let pair { return max(pair.mayTryAt, address) }
      if address > now { return address }
      return reserve(attempt, now)
    }

    /// Reserves an attempt. The first attempt of a client at a name with failed logins of others waits as long as if the
    /// failures were its own. The moment is reserved for that client.
    private mutating func reserve(_ attempt: Attempt, _ now: Int64) -> Int64 {
      let delay = names[attempt.name]?.delay(.name, now) ?? 0
      guard delay > 0 else { return 0 }
      var pair = Failures()
      pair.mayTryAt = now + delay
      pairs[attempt.pair] = pair
      return pair.mayTryAt
    }

    mutating func failSecret(_ key: Int, _ now: Int64) {
      _ = Self.add(.address, to: &addresses, key: key, at: now)
    }

    mutating func fail(_ attempt: Attempt, _ now: Int64) {
      let ofName = Self.add(.name, to: &names, key: attempt.name, at: now)
      _ = Self.add(.address, to: &addresses, key: attempt.address, at: now)
      let own = Self.add(.name, to: &pairs, key: attempt.pair, at: now)
      let isTrusted = trusted[attempt.pair] != nil
      pairs[attempt.pair]?.mayTryAt = now + (isTrusted ? own : max(own, ofName))
    }

    /// Gives the delay that follows.
    private static func add(
      _ limits: Limits, to table: inout RecentTable<Failures>, key: Int, at now: Int64
    ) -> Int64 {
      var failures = table[key] ?? Failures()
      failures.add(limits, now)
      let delay = failures.delay(limits, now)
      failures.mayTryAt = now + delay
      table[key] = failures
      return delay
    }
  }
}
