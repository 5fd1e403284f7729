package import KVBase

/// Keeps what matches a query in step with the backend, until closed: a loop over what `FollowMachine` says.
///
/// One thread runs `run`; everything else may be called from any thread and waits for nothing.
package final class Follower: Sendable {
  /// The functions of its store that a follower calls. Each blocks, and ends when the cancellation comes.
  package struct Work: Sendable {
    /// Listens to live data, which is handed to the function. Nil: the application wants none. `.unsupported`: there
    /// is none.
    package var listen:
      @Sendable (_ receive: @escaping @Sendable (LiveEvent) -> Void, Cancellation)
        throws(StoreError) -> (any LiveListener)?
    /// Writes a live change to the local store.
    package var apply: @Sendable (LiveChange) throws(StoreError) -> Void
    /// Pushes what waits; gives why some of it has to be sent again, nil: nothing has.
    package var push: @Sendable (Cancellation) throws(StoreError) -> StoreError?
    /// Reads from the backend what matches.
    package var read: @Sendable (Cancellation) throws(StoreError) -> Void

    package init(
      listen:
        @escaping @Sendable (
          _ receive: @escaping @Sendable (LiveEvent) -> Void, Cancellation
        ) throws(StoreError) -> (any LiveListener)?,
      apply: @escaping @Sendable (LiveChange) throws(StoreError) -> Void,
      push: @escaping @Sendable (Cancellation) throws(StoreError) -> StoreError?,
      read: @escaping @Sendable (Cancellation) throws(StoreError) -> Void
    ) {
      self.listen = listen
      self.apply = apply
      self.push = push
      self.read = read
    }
  }

  private struct State {
    var machine: FollowMachine
    var listener: (any LiveListener)?
    var lastSynced: Timestamp?
    /// Why live data has ended, until that is told.
    var liveError: StoreError?
    /// What the observer was notified of last.
    var published: FollowStatus?
  }

  private let collection: String
  private let filter: String
  private let work: Work
  private let changed: @Sendable () -> Void
  private let now: @Sendable () -> Double
  private let share: @Sendable () -> Double
  private let cancellation = Cancellation()
  private let state: Monitor<State>

  /// `changed` runs whenever `status` is another one, on whichever thread changed it; it must not wait. `now`: seconds
  /// that never go back; `share`: from 0 to 1.
  package init(
    collection: String, filter: String, interval: Double, usesLive: Bool,
    rest: Double = FollowMachine.rest,
    _ work: Work,
    now: @escaping @Sendable () -> Double = { Double(monotonicNanoseconds()) / 1e9 },
    share: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
    changed: @escaping @Sendable () -> Void
  ) {
    self.collection = collection
    self.filter = filter
    self.work = work
    self.changed = changed
    self.now = now
    self.share = share
    state = Monitor(
      State(machine: FollowMachine(interval: interval, usesLive: usesLive, rest: rest)))
  }

  package var status: FollowStatus { state.withLock { status(of: $0) } }

  private func status(of state: State) -> FollowStatus {
    FollowStatus(
      collection: collection, filter: filter, state: state.machine.state,
      isLive: state.machine.isLive, lastSynced: state.lastSynced)
  }

  /// Works until `close`.
  package func run() {
    while let seconds = performStep() {
      let end = now() + seconds
      _ = state.wait(until: .after(seconds: seconds)) { state -> Bool? in
        state.machine.isClosed || self.isDue(state.machine, before: end) ? true : nil
      }
    }
  }

  /// Whether there is something to do now, or will be before a moment.
  private func isDue(_ machine: FollowMachine, before end: Double) -> Bool {
    let now = self.now()
    var machine = machine
    guard case .wait(let left) = machine.next(at: now), left > 0 else { return true }
    // A millisecond less is the same moment.
    return now + left < end - 0.001
  }

  /// Does what is to be done first; gives the seconds until there is more to do, nil: it is closed.
  package func performStep() -> Double? {
    let step = change { $0.machine.isClosed ? nil : $0.machine.next(at: self.now()) }
    guard let step else { return nil }
    if case .wait(let seconds) = step { return seconds }
    let outcome = perform(step)
    let (now, share) = (self.now(), self.share())
    change { state in
      if step == .read, outcome == .done { state.lastSynced = .now() }
      state.machine.finished(step, outcome, at: now, share: share)
    }
    return 0
  }

  private func perform(_ step: FollowMachine.Step) -> FollowMachine.Outcome {
    do throws(StoreError) {
      switch step {
      case .listen(let number): return try listen(number) ? .done : .switchedOff
      case .push: return try work.push(cancellation).map { .refused($0) } ?? .done
      case .read: try work.read(cancellation)
      case .wait: break
      }
      return .done
    } catch {
      return .failed(error)
    }
  }

  private func listen(_ number: Int) throws(StoreError) -> Bool {
    let receive: @Sendable (LiveEvent) -> Void = { [weak self] in self?.receive($0, number) }
    guard let listener = try work.listen(receive, cancellation) else { return false }
    let (before, isTooLate) = state.withLock { state -> ((any LiveListener)?, Bool) in
      defer { if !state.machine.isClosed { state.listener = listener } }
      return (state.listener, state.machine.isClosed)
    }
    before?.end()
    if isTooLate { listener.end() }
    return true
  }

  // MARK: What happens meanwhile

  /// Something was saved here. Cheap enough for each save: the thread is woken by the first of many.
  package func didSave() {
    let now = self.now()
    guard state.withLock({ !$0.machine.pushesSoon(at: now) }) else { return }
    receive(.saved)
  }

  package func receive(_ signal: FollowMachine.Signal) {
    let now = self.now()
    change { $0.machine.receive(signal, at: now) }
  }

  private func receive(_ event: LiveEvent, _ number: Int) {
    switch event {
    case .ready, .status(.reconnected): receive(.connected(number))
    case .status(.connected): break
    case .status(.unexpectedDisconnect): receive(.disconnected(number))
    case .missed, .changed(.tooLarge): receive(.missed)
    case .failure(let error): state.withLock { $0.liveError = error }
    case .status(.disconnected):
      let error = state.withLock { state in
        defer { state.liveError = nil }
        return state.liveError
      }
      receive(.ended(number, error))
    case .changed(let change):
      do throws(StoreError) { try work.apply(change) } catch { receive(.missed) }
    }
  }

  /// Ends it, and cancels what it does: `run` returns soon after. A second time is harmless.
  package func close() {
    let listener = change { state in
      state.machine.close()
      defer { state.listener = nil }
      return state.listener
    }
    cancellation.cancel()
    listener?.end()
  }

  /// Changes the state, wakes the thread, and tells the observer if it can be seen.
  @discardableResult
  private func change<R>(_ body: (inout State) -> R) -> R {
    let (result, isNews) = state.withLockNotifyingAll { state in
      let result = body(&state)
      let status = status(of: state)
      defer { state.published = status }
      return (result, status != state.published)
    }
    if isNews { changed() }
    return result
  }
}

/// A subscription to live data, as its owner sees it.
package protocol LiveListener: AnyObject, Sendable {
  /// Waits for nothing; a second time is harmless.
  func end()
}
