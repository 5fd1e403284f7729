internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// Makes the indexes of one file that queries would have been served by, and drops them when they cost more than they save:
/// `IndexLedger` decides, and a thread of its own carries it out while there is something to do, in small transactions.
///
/// Answers never depend on it: an index only finds what a scan would find. Safe from any thread.
final class AutomaticIndexes: Sendable {
  private enum Task: Sendable {
    case make(IndexSpec, Table, rows: Int)
    case drop(String, Table)
  }

  private struct State {
    var ledger: IndexLedger
    var tasks: [Task] = []
    var worker: Worker?
    /// Whether the worker has not ended.
    var isWorking = false
    var isClosed = false
  }

  let rules: IndexLedger.Rules
  private let state: Monitor<State>
  private let generation = ProcessGeneration.current

  init(_ rules: IndexLedger.Rules) {
    self.rules = rules
    state = Monitor(State(ledger: IndexLedger(rules)))
  }

  // MARK: What happens

  /// A scan of all rows of a table is at its end.
  func scanned(
    _ wanted: IndexSpec, _ table: Table, rows: Int, found: Int, for storage: Storage
  ) {
    let worthwhile = state.withLock { state in
      state.ledger.scanned(wanted, in: table.number, rows: rows, found: found)
    }
    if let worthwhile { perform(.make(worthwhile, table, rows: rows), for: storage) }
  }

  /// A query uses these indexes.
  func used(_ names: [String], _ table: Table) {
    state.withLock { state in
      for name in names { state.ledger.used(name, in: table.number) }
    }
  }

  /// A transaction, which is open on `db`, has changed so many rows because of one table.
  func changed(
    _ rows: Int, _ table: Table, on db: borrowing Connection, for storage: Storage
  ) throws(SQLiteError) {
    guard rows > 0 else { return }
    if !state.withLock({ $0.ledger.isKnown(table.number) }) {
      let names = try Storage.automaticIndexes(of: table, on: db)
      let rows = names.isEmpty ? 0 : try Storage.highestRow(of: table, on: db)
      state.withLock { $0.ledger.know(names, of: table.number, rows: rows) }
    }
    let dropped = state.withLock { $0.ledger.changed(rows, in: table.number) }
    for name in dropped { perform(.drop(name, table), for: storage) }
  }

  /// The application has dropped such an index, so it does not want it.
  func refuse(_ name: String, _ table: Table) {
    state.withLock { $0.ledger.refuse(name, in: table.number) }
  }

  /// Stops, and waits for the transaction that is being made.
  func close() {
    // A child process has not inherited the thread, and perhaps a lock that is never released.
    guard generation.isCurrent else { return }
    let worker = state.withLock { state in
      (state.isClosed, state.tasks) = (true, [])
      return state.worker
    }
    worker?.join()
  }

  /// Waits until nothing is left to do.
  func waitUntilIdle() { state.wait { $0.isWorking ? nil : () } }

  // MARK: The worker

  private func perform(_ task: Task, for storage: Storage) {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.tasks.append(task)
      guard !state.isWorking else { return }
      // The former one has ended, but perhaps not returned yet; that takes no time.
      state.worker?.join()
      state.worker = Worker("kv-indexes") { self.work(for: storage) }
      state.isWorking = state.worker != nil
    }
  }

  private func work(for storage: Storage) {
    while let task = next() {
      switch task {
      case .drop(let name, let table):
        // It stays if that fails, and costs what it costs.
        _ = try? storage.removeIndex(name, in: table.name)
      case .make(let spec, let table, let rows):
        let isMade = (try? make(spec, table, for: storage)) ?? false
        state.withLock { state in
          if isMade {
            state.ledger.made(spec.name, in: table.number, rows: rows)
          } else if !state.isClosed {
            state.ledger.refuse(spec.name, in: table.number)
          }
        }
      }
    }
  }

  /// Nil: there is nothing left to do, and the worker has ended.
  private func next() -> Task? {
    state.withLockNotifyingAll { state in
      guard let task = state.tasks.first else {
        state.isWorking = false
        return nil
      }
      state.tasks.removeFirst()
      return task
    }
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Makes an index in many transactions, between which others write; false if there is no room for it, or one with the same
  /// keys already.
  private func make(
    _ spec: IndexSpec, _ table: Table, for storage: Storage
  ) throws(StoreError) -> Bool {
    guard let place = try storage.addAutomaticIndex(spec, in: table.name, rules) else {
      return false
    }
    var pace = FillPace()
    while !isClosed {
      let step = try storage.fillMeasuring(place.index, &pace)
      guard step.bytes <= place.limit else {
        _ = try storage.removeIndex(spec.name, in: table.name)
        return false
      }
      if step.isLast { return true }
    }
    return false
  }
}
