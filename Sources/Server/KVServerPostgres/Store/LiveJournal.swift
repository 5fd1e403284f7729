internal import KVBase
internal import KVServerCore

/// The messages of Live Service, each written in the transaction of the write that it tells of. Safe from any thread.
///
/// The time of a message is made of that of its transaction, so that messages have the order of the commits, whichever
/// server has written them.
final class LiveJournal: LiveHistoryStore {
  /// A time of Live Service has steps of 100 ns; an app's clock, of 1 ms.
  private static let stepsPerTick: Int64 = 10_000

  private let database: PostgresDatabase
  private let clocks: AppClocks

  init(_ database: PostgresDatabase, _ clocks: AppClocks) {
    self.database = database
    self.clocks = clocks
  }

  /// The time up to which everything is told when the last commit was at `clock`.
  static func position(at clock: Int64) -> Int64 { (clock &+ 1) &* stepsPerTick }

  func history(of app: Int64, at now: Timestamp) throws(ServerError) -> LiveHistory {
    clocks.refresh(app)
    return try storage { () throws(PostgresError) in
      // One that was never asked for begins now.
      try database.run(
        """
        UPDATE app SET live_floor = (clock + 1) * \(bind: Self.stepsPerTick)
        WHERE number = \(bind: app) AND live_floor = 0
        """)
      return try database.snapshot { (connection) throws(PostgresError) in
        let rows = try connection.runAll([
          "SELECT clock, live_floor FROM app WHERE number = \(bind: app)",
          MessageStatements.list(app: app),
        ])
        var history = LiveHistory(sharedSince: rows[0].int64(0, 1))
        for message in Self.messages(rows[1]) { history.add(message) }
        history.advance(to: Self.position(at: rows[0].int64(0, 0)))
        return history
      }
    }
  }

  func forget(_ app: Int64, until floor: Int64) throws(ServerError) {
    try storage { () throws(PostgresError) in
      try database.run(
        MessageStatements.forget(app: app, until: floor),
        """
        UPDATE app SET live_floor = greatest(live_floor, \(bind: floor))
        WHERE number = \(bind: app)
        """)
    }
  }

  /// Reads what `MessageStatements.list` gives.
  static func messages(_ rows: ResultRows) -> [LiveMessage] {
    (0..<rows.count).compactMap { row in
      LiveMessage.About(rows.text(row, 2)).map {
        LiveMessage(
          time: rows.int64(row, 0), collection: rows.text(row, 1), about: $0,
          payload: rows.copy(row, 3))
      }
    }
  }

  /// Adds messages, in the transaction that they tell of; gives the time of the first.
  @discardableResult
  static func add(
    _ content: LiveAnnouncement.Content, of topic: String, in transaction: AppWriter.Transaction
  ) -> Int64 {
    let time = transaction.now.milliseconds &* stepsPerTick &+ 1 &+ Int64(transaction.messages)
    guard content.count > 0 else { return time }
    let announcement = LiveAnnouncement(
      app: transaction.app, topic: topic, content: content, time: time, isJournaled: true)
    if announcement.isCut {
      cut(transaction)
    } else {
      add(announcement.messages, topic, in: transaction)
    }
    return time
  }

  private static func add(
    _ messages: [LiveMessage], _ topic: String, in transaction: AppWriter.Transaction
  ) {
    transaction.enqueue(
      """
      INSERT INTO live_message (app, topic, time, about, payload)
      SELECT \(bind: transaction.app), \(bind: topic), m.time, m.about, m.payload
      FROM unnest(\(bind: messages.map(\.time)), \(bind: messages.map(\.about.text)),
        \(bind: messages.map(\.payload))) AS m (time, about, payload)
      """)
  }

  /// Says, in the transaction that is too much to tell of, that nothing is known of what was until then.
  private static func cut(_ transaction: AppWriter.Transaction) {
    transaction.enqueue(MessageStatements.forget(app: transaction.app))
    transaction.enqueue(
      """
      UPDATE app SET live_floor = \(bind: position(at: transaction.now.milliseconds))
      WHERE number = \(bind: transaction.app)
      """)
  }
}
