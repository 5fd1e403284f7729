internal import KVBase

/// Reads for many callers at once, none of whom waits: statements that come while others are under way gather, and go
/// together in one round trip. So the more there are, the less each costs. Safe from any thread.
///
/// The statements have to be short: those that go together are answered together.
final class SharedReader: Sendable {
  typealias Completion = @Sendable (Result<ResultRows, PostgresError>) -> Void

  /// How many threads there are, with a connection each: so the database has work while one of them hands out what it was
  /// given.
  static let threads = 2
  /// How many statements go together at the most.
  private static let maxTogether = 32
  /// How many may wait: as many as take some hundredths of a second.
  private static let maxWaiting = 256

  private struct Question {
    let sql: SQL
    let tell: Completion
  }

  private struct State {
    var waiting: [Question] = []
    var isClosed = false
  }

  private let database: PostgresDatabase
  private let state: Monitor<State>
  private let workers: [Worker]

  init(_ database: PostgresDatabase) {
    self.database = database
    let state = Monitor(State())
    self.state = state
    workers = (0..<Self.threads).compactMap { _ in
      Worker("kv-reader") {
        while let questions = Self.next(state) { Self.answer(questions, from: database) }
      }
    }
  }

  /// Runs a statement, and calls `tell` with its rows on another thread. False: too many wait, or it is closed; then `tell` is
  /// never called.
  func read(_ sql: SQL, then tell: @escaping Completion) -> Bool {
    if workers.isEmpty { return false }
    return state.withLockNotifyingOne { state in
      guard !state.isClosed, state.waiting.count < Self.maxWaiting else { return false }
      state.waiting.append(Question(sql: sql, tell: tell))
      return true
    }
  }

  /// Answers what waits, and ends the threads.
  func close() {
    state.withLockNotifyingAll { $0.isClosed = true }
    for worker in workers { worker.join() }
  }

  /// Waits for questions; nil: it is over.
  private static func next(_ state: Monitor<State>) -> [Question]? {
    let questions = state.wait { state -> [Question]? in
      if state.waiting.isEmpty { return state.isClosed ? [] : nil }
      let some = Array(state.waiting.prefix(maxTogether))
      state.waiting.removeFirst(some.count)
      return some
    }
    return questions?.isEmpty == false ? questions : nil
  }

  private static func answer(_ questions: [Question], from database: PostgresDatabase) {
    do throws(PostgresError) {
      let rows = try database.readEach(questions.map(\.sql))
      for (question, rows) in zip(questions, rows) { question.tell(.success(rows)) }
    } catch {
      // One that fails takes the others along.
      guard questions.count > 1, !error.endsConnection else {
        return questions.forEach { $0.tell(.failure(error)) }
      }
      for question in questions { answer([question], from: database) }
    }
  }
}
