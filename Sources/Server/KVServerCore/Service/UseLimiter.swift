internal import KVBase

/// How much clients may add to a server. 0: no limit.
package struct UseLimits: Sendable, Equatable {
  /// Sign-ups from one address within an hour. An app has a hundred times as many.
  package var signUpsPerHour = 1000
  /// Collections of an app that users make.
  package var collections = 10_000
  /// Collections that one user makes within an hour.
  package var collectionsPerHour = 1000
  package var sessionsPerUser = 1000

  package init() {}
}

/// Counts what clients add, and refuses what is too much. Safe from any thread; memory is bounded.
final class UseLimiter: Sendable {
  private let signUps: RateLimit
  private let signUpsOfApps: RateLimit
  private let collections: RateLimit
  /// Collections that are known to exist, so that a write to them asks nothing.
  private let known = Monitor(RecentTable<Bool>(limit: 10_000))
  let limits: UseLimits

  init(_ limits: UseLimits, now: @escaping @Sendable () -> Int64) {
    self.limits = limits
    signUps = RateLimit(perHour: limits.signUpsPerHour, now: now)
    signUpsOfApps = RateLimit(perHour: limits.signUpsPerHour &* 100, now: now)
    collections = RateLimit(perHour: limits.collectionsPerHour, now: now)
  }

  /// Counts a sign-up.
  func signUp(_ call: AuthenticatedRequest) throws(ServerError) {
    let address = ClientAddress(call.request.client)
    if let seconds = signUps.take(address) ?? signUpsOfApps.take(call.app.number) {
      throw .tooManyRequests("there were too many sign-ups", after: seconds)
    }
  }

  /// Counts a collection that a user is about to make by a write. `count` gives how many the app has.
  func make(
    _ collection: CollectionKey, by user: String, exists: () throws(ServerError) -> Bool,
    count: () throws(ServerError) -> Int
  ) throws(ServerError) {
    var hasher = Hasher()
    hasher.combine(collection.app)
    hasher.combine(RecordID(collection.name))
    let key = hasher.finalize()
    if known.withLock({ $0[key] }) == true { return }
    if try exists() {
      known.withLock { $0[key] = true }
      return
    }
    if let seconds = collections.take([RecordID(user), RecordID(String(collection.app))]) {
      throw .tooManyRequests("the user has made too many collections", after: seconds)
    }
    if limits.collections > 0, try count() >= limits.collections {
      throw ServerError(
        .writesToCollectionDisallowed,
        "the app has \(limits.collections) collections; the master secret can make more")
    }
  }
}

/// How often something may be done by one key: so many times within an hour, all of them at once or one by one. Safe from
/// any thread; memory is bounded.
final class RateLimit: Sendable {
  private static let hour: Int64 = 3_600_000
  private let most: Int
  private let milliseconds: @Sendable () -> Int64
  /// When all that a key has done is forgotten.
  private let forgottenAt = Monitor(RecentTable<Int64>(limit: 10_000))

  /// `perHour` 0: no limit. `now` gives nanoseconds, monotonically.
  init(perHour: Int, now: @escaping @Sendable () -> Int64) {
    most = perHour
    milliseconds = { now() / 1_000_000 }
  }

  /// Counts one; or gives the seconds until the next one may be done, and counts nothing.
  func take(_ key: some Hashable) -> Int? {
    guard most > 0 else { return nil }
    let (hash, now) = (key.hashValue, milliseconds())
    let step = max(1, Self.hour / Int64(most))
    return forgottenAt.withLock { table in
      let next = max(table[hash] ?? now, now) + step
      let wait = next - now - Self.hour
      if wait > 0 { return Int((wait + 999) / 1000) }
      table[hash] = next
      return nil
    }
  }
}
