package import KVBase

/// Keeps several collections in step with the backend while it is started: a loop over what `SyncMachine` says.
///
/// One thread runs `run`; everything else may be called from any thread, at any time, and waits for nothing, unless it
/// says so.
package final class Synchroniser: Sendable {
  /// The functions of the client that a synchroniser calls. Collections are named by their index.
  package struct Work: Sendable {
    /// Subscribes to live data, which is handed to the function. Nil: the application wants none. `.unsupported`: there is
    /// none.
    package var listen:
      @Sendable (Int, _ receive: @escaping @Sendable (LiveEvent) -> Void, Cancellation)
        throws(StoreError) -> (any LiveListener)?
    /// Writes a live change to the local store; gives what it was here.
    package var apply: @Sendable (Int, LiveChange) throws(StoreError) -> [ReceivedRecord]
    /// Reads what has changed, or everything.
    package var read: @Sendable (Int, Cancellation) throws(StoreError) -> SyncedCounts
    /// Tells the application, on the thread that runs `run`.
    package var report: @Sendable (SyncMachine.Report) -> Void
    /// Tells of records that live data has changed here.
    package var received: @Sendable (Int, [ReceivedRecord]) -> Void
    /// Looks what was added to the queue.
    package var reportQueue: @Sendable () -> Void

    package init(
      listen:
        @escaping @Sendable (
          Int, _ receive: @escaping @Sendable (LiveEvent) -> Void, Cancellation
        ) throws(StoreError) -> (any LiveListener)?,
      apply: @escaping @Sendable (Int, LiveChange) throws(StoreError) -> [ReceivedRecord],
      read: @escaping @Sendable (Int, Cancellation) throws(StoreError) -> SyncedCounts,
      report: @escaping @Sendable (SyncMachine.Report) -> Void,
      received: @escaping @Sendable (Int, [ReceivedRecord]) -> Void = { _, _ in },
      reportQueue: @escaping @Sendable () -> Void = {}
    ) {
      self.listen = listen
      self.apply = apply
      self.read = read
      self.report = report
      self.received = received
      self.reportQueue = reportQueue
    }
  }

  private struct State {
    var machine: SyncMachine
    var listeners: [Int: any LiveListener] = [:]
    /// Counts the starts: what was begun before the last one ends without an effect.
    var run = 0
    /// Stops what the present run does.
    var cancellation = Cancellation()
    /// Why a subscription has ended, until that is told.
    var liveErrors: [Int: StoreError] = [:]
    var hasSaved = false
    var isClosed = false
  }

  private let work: Work
  private let now: @Sendable () -> Double
  private let share: @Sendable () -> Double
  private let state: Monitor<State>
  /// Live changes are written one after the other; `quiesce` waits for the last one.
  private let applying = Monitor(())

  /// `now`: seconds that never go back; `share`: from 0 to 1.
  package init(
    _ count: Int, interval: Double, usesLive: Bool, _ work: Work,
    now: @escaping @Sendable () -> Double = { Double(monotonicNanoseconds()) / 1e9 },
    share: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
  ) {
    self.work = work
    self.now = now
    self.share = share
    state = Monitor(State(machine: SyncMachine(count, interval: interval, usesLive: usesLive)))
  }

  // MARK: Starting and stopping

  /// Starts; nothing happens if it has started. `isOnline`: whether the backend answers; nil: nothing was asked yet.
  package func start(isOnline: Bool?) {
    let now = self.now()
    state.withLockNotifyingAll { state in
      guard !state.machine.isRunning, !state.isClosed else { return }
      state.run += 1
      state.cancellation = Cancellation()
      state.machine.receive(.start(isOnline: isOnline), at: now)
    }
  }

  /// Stops: work under way is cancelled, and nothing is reported any more except what another thread reports at this
  /// moment.
  package func stop() { end(closing: false) }

  /// The same for good: `run` returns soon after.
  package func close() { end(closing: true) }

  private func end(closing: Bool) {
    let now = self.now()
    let (listeners, cancellation) = state.withLockNotifyingAll { state in
      state.machine.receive(.stop, at: now)
      state.run += 1
      state.isClosed = state.isClosed || closing
      defer { (state.listeners, state.liveErrors) = ([:], [:]) }
      return (Array(state.listeners.values), state.cancellation)
    }
    cancellation.cancel()
    for listener in listeners { listener.end() }
  }

  /// Adds a collection, the last one.
  package func add() { receive(.added) }

  /// Waits until no live change is being written: after `stop` none will be.
  package func quiesce() { applying.withLock { _ in } }

  package var isRunning: Bool { state.withLock { $0.machine.isRunning } }

  /// Whether each collection was read since the start, or has failed.
  package var isReady: Bool { state.withLock { $0.machine.isRunning && $0.machine.isReady } }

  /// How each collection stands.
  package func status(of index: Int) -> SyncedStatus {
    state.withLock { state in
      SyncedStatus(
        isSynced: state.machine.isRunning && state.machine.isSynced(index),
        isLive: state.machine.isRunning && state.machine.isLive(index),
        error: state.machine.error(of: index))
    }
  }

  // MARK: The loop

  /// Works until `close`.
  package func run() {
    while let seconds = performStep() {
      guard seconds > 0 else { continue }
      let seconds = min(seconds, 1e6)
      let end = now() + seconds
      _ = state.wait(until: .after(seconds: seconds)) { state -> Bool? in
        state.isClosed || state.hasSaved || self.isDue(state.machine, before: end) ? true : nil
      }
    }
  }

  /// Whether there is something to do or to report, or will be before a moment.
  private func isDue(_ machine: SyncMachine, before end: Double) -> Bool {
    let now = self.now()
    var machine = machine
    guard case .wait(let left) = machine.next(at: now), left > 0 else { return true }
    // A millisecond less is the same moment.
    return now + left < end - 0.001 || !machine.takeReports().isEmpty
  }

  /// Takes the next step; gives how many seconds to wait then, nil: it is closed.
  package func performStep() -> Double? {
    let (step, run, cancellation, isClosed, hasSaved) = state.withLock { state in
      let step = state.machine.next(at: self.now())
      defer { state.hasSaved = false }
      return (step, state.run, state.cancellation, state.isClosed, state.hasSaved)
    }
    if isClosed { return nil }
    publish(of: run)
    if hasSaved { work.reportQueue() }
    if case .wait(let seconds) = step { return seconds }
    let outcome = perform(step, run: run, until: cancellation)
    let (now, share) = (self.now(), self.share())
    state.withLock { state in
      guard state.run == run else { return }
      state.machine.finished(step, outcome, at: now, share: share)
    }
    publish(of: run)
    return 0
  }

  private func publish(of run: Int) {
    for report in state.withLock({ $0.run == run ? $0.machine.takeReports() : [] }) {
      guard state.withLock({ $0.run == run }) else { return }
      work.report(report)
    }
  }

  private func perform(
    _ step: SyncMachine.Step, run: Int, until cancellation: Cancellation
  ) -> SyncMachine.Outcome {
    do throws(StoreError) {
      switch step {
      case .listen(let index, let number):
        return try listen(index, number, run: run, until: cancellation) ? .begun : .switchedOff
      case .read(let index): return .synced(try work.read(index, cancellation))
      case .wait: return .begun
      }
    } catch {
      return .failed(error)
    }
  }

  private func listen(
    _ index: Int, _ number: Int, run: Int, until cancellation: Cancellation
  ) throws(StoreError) -> Bool {
    let receive: @Sendable (LiveEvent) -> Void = { [weak self] event in
      self?.receive(event, of: index, number: number, run: run)
    }
    guard let listener = try work.listen(index, receive, cancellation) else { return false }
    let (before, isTooLate) = state.withLock { state -> ((any LiveListener)?, Bool) in
      let isTooLate = state.run != run
      defer { if !isTooLate { state.listeners[index] = listener } }
      return (isTooLate ? nil : state.listeners[index], isTooLate)
    }
    before?.end()
    if isTooLate { listener.end() }
    return true
  }

  // MARK: What happens meanwhile

  /// Something was saved here.
  package func didSave() {
    let isNews = state.withLock { $0.machine.isRunning && !$0.hasSaved }
    if isNews { state.withLockNotifyingAll { $0.hasSaved = true } }
  }

  package func receive(_ signal: SyncMachine.Signal) {
    let now = self.now()
    state.withLockNotifyingAll { $0.machine.receive(signal, at: now) }
  }

  private func receive(_ event: LiveEvent, of index: Int, number: Int, run: Int) {
    switch event {
    case .ready, .status(.reconnected): receive(.connected(index, number: number))
    case .status(.connected): break
    case .status(.unexpectedDisconnect): receive(.disconnected(index, number: number))
    case .missed, .changed(.tooLarge): receive(.missed(index))
    case .failure(let error): state.withLock { $0.liveErrors[index] = error }
    case .status(.disconnected):
      let error = state.withLock { $0.liveErrors.removeValue(forKey: index) }
      receive(.ended(index, number: number, error))
    case .changed(let change): apply(change, to: index, run: run)
    }
  }

  private func apply(_ change: LiveChange, to index: Int, run: Int) {
    let outcome = applying.withLock { _ in
      Result { () throws(StoreError) -> [ReceivedRecord] in
        guard state.withLock({ $0.run == run }) else { return [] }
        return try work.apply(index, change)
      }
    }
    switch outcome {
    case .success(let records): if !records.isEmpty { work.received(index, records) }
    // One bad record holds up nothing: what it was is read.
    case .failure: receive(.missed(index))
    }
  }
}

/// How a collection that is synchronised stands.
package struct SyncedStatus: Sendable, Equatable {
  /// Whether it was read since the start.
  package var isSynced: Bool
  /// Whether changes come by live data; else they are polled for.
  package var isLive: Bool
  /// Why it could not be read the last time.
  package var error: StoreError?
}
