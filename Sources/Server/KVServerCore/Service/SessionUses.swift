internal import KVBase

/// Which sessions were used lately, so that a use costs a write only now and then. Safe from any thread.
final class SessionUses: Sendable {
  /// Beyond these, a use is noted more often than it need be.
  private static let limit = 100_000

  private let noted = Monitor(RecentTable<Int64>(limit: limit))

  /// Whether the use of a session is to be noted now; it counts as noted then.
  func isDue(_ token: String, _ life: SessionLife, at now: Timestamp) -> Bool {
    // Two tokens with one hash share their turns, which hardly ever happens, and matters little.
    let key = RecordID(token).hashValue
    return noted.withLock { noted in
      if let last = noted[key], now.milliseconds - last < life.noteMilliseconds { return false }
      noted[key] = now.milliseconds
      return true
    }
  }
}
