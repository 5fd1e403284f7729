internal import KVBase

/// Reads for many callers at once, none of whom waits: statements that come while others are under way gather, and go
/// together in one round trip. So the more there are, the less each costs. Safe from any thread.
///
/// The statements have to be short: those that go together are answered together.
final class SharedReader: Sendable {
  typealias Completion = @Sendable (Result<ResultRows, PostgresError>) -> Void

  /// How many threads there are, with a connection each. One of them does all as long as it is quick, since the more go together,
  /// the less each costs; the other is there for when it is not.
  static let threads = 2
  /// How many statements have to wait, or for how long the one thread has to be away, in nanoseconds, for the other one to help.
  private static let manyWaiting = 16
  private static let longAway: Int64 = 2_000_000
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
    /// Threads that were called and have not come yet, and those that are at work.
    var (called, working) = (0, 0)
    /// When a thread took what waited, on the monotonic clock.
    var lastTaken: Int64 = 0
    var isClosed = false

    /// Whether what waits needs one thread more than there are at work.
    var needsThread: Bool {
      guard called == 0, working < SharedReader.threads else { return false }
      return working == 0 || waiting.count >= manyWaiting
        || monotonicNanoseconds() - lastTaken > longAway
    }

    /// What a thread does next; nil: nothing. `isWorking`: whether it has just answered questions; one that has not needs to be
    /// called, so that those that wake up for nothing leave the others' alone.
    mutating func take(_ isWorking: inout Bool) -> [Question]? {
      if !isWorking, called > 0 || isClosed {
        called -= min(called, 1)
        working += 1
        isWorking = true
      }
      guard isWorking else { return nil }
      if waiting.isEmpty {
        working -= 1
        isWorking = false
        // A thread that was woken too late finds nothing: the next question wakes one again.
        called = 0
        return isClosed ? [] : nil
      }
      let some = Array(waiting.prefix(maxTogether))
      waiting.removeFirst(some.count)
      lastTaken = monotonicNanoseconds()
      return some
    }

    mutating func takeAll() -> [Question] {
      defer { waiting = [] }
      return waiting
    }
  }

  private let database: PostgresDatabase
  private let state: Monitor<State>
  private let workers: [Worker]

  /// `threads`: how many are started at the most.
  init(_ database: PostgresDatabase, threads: Int = SharedReader.threads) {
    self.database = database
    let state = Monitor(State())
    self.state = state
    workers = (0..<threads).compactMap { _ in
      Worker("kv-reader") {
        var isWorking = false
        while let questions = Self.next(state, &isWorking) {
          Self.answer(questions, from: database) { error in
            let others = state.withLock { $0.takeAll() }
            for question in others { question.tell(.failure(error)) }
          }
        }
      }
    }
  }

  /// Runs a statement, and calls `tell` with its rows on another thread. False: too many wait, or it is closed; then `tell` is
  /// never called.
  func read(_ sql: SQL, then tell: @escaping Completion) -> Bool {
    if workers.isEmpty { return false }
    let isCalled = state.withLock { state -> Bool? in
      guard !state.isClosed, state.waiting.count < Self.maxWaiting else { return nil }
      state.waiting.append(Question(sql: sql, tell: tell))
      guard state.needsThread else { return false }
      state.called += 1
      return true
    }
    if isCalled == true { state.withLockNotifyingOne { _ in } }
    return isCalled != nil
  }

  /// Answers what waits, and ends the threads.
  func close() {
    state.withLockNotifyingAll { $0.isClosed = true }
    for worker in workers { worker.join() }
  }

  /// Waits for questions; nil: it is over.
  private static func next(_ state: Monitor<State>, _ isWorking: inout Bool) -> [Question]? {
    let questions = state.wait { $0.take(&isWorking) }
    return questions?.isEmpty == false ? questions : nil
  }

  /// `giveUp` is called if nothing can be read.
  private static func answer(
    _ questions: [Question], from database: PostgresDatabase, giveUp: (PostgresError) -> Void
  ) {
    do throws(PostgresError) {
      let rows = try database.readEach(questions.map(\.sql))
      for (question, rows) in zip(questions, rows) { question.tell(.success(rows)) }
    } catch {
      // One that fails takes the others along.
      guard questions.count > 1, !error.endsConnection else {
        for question in questions { question.tell(.failure(error)) }
        if error.isOutage { giveUp(error) }
        return
      }
      for (index, question) in questions.enumerated() {
        var outage: PostgresError?
        answer([question], from: database) { outage = $0 }
        guard let outage else { continue }
        for other in questions[(index + 1)...] { other.tell(.failure(outage)) }
        return giveUp(outage)
      }
    }
  }
}
