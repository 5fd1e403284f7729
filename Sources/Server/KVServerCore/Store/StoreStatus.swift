/// What a store says of itself to its operator.
package struct StoreStatus: Sendable {
  /// Connections to a database server, which threads take turns to use.
  package struct Pool: Sendable {
    package var limit: Int
    package var open: Int
    package var idle: Int
    /// How many threads wait for one.
    package var waiting: Int
    /// How often a thread has sent statements and waited for their results, since the start.
    package var roundTrips: Int

    package init(limit: Int, open: Int, idle: Int, waiting: Int, roundTrips: Int) {
      self.roundTrips = roundTrips
      self.limit = limit
      self.open = open
      self.idle = idle
      self.waiting = waiting
    }
  }

  /// How many commits the feed is known to have still to come.
  package var feedWaiting: Int
  /// Seconds since the feed was last known to have everything; 0 where it has it now.
  package var feedAge: Double
  /// Nil: there is none.
  package var pool: Pool?
  /// How much the data takes where it is stored, by part; a part that is not known yet is left out.
  package var bytes: [(part: String, count: Int)]

  package init(
    feedWaiting: Int, feedAge: Double, pool: Pool? = nil, bytes: [(part: String, count: Int)]
  ) {
    self.feedWaiting = feedWaiting
    self.feedAge = feedAge
    self.pool = pool
    self.bytes = bytes
  }
}
