internal import KVBase
internal import KVSync

/// Pushes the waiting writes of one tag, whenever there are any and a user is logged in: the option
/// `pushAutomatically`. One thread, which sleeps until something happens.
///
/// Of several processes with the same file one is elected, by a lock that goes with it when it dies; it pushes
/// for all, and looks once a second whether others have saved. Two pushes never run at once: this one waits for
/// the application's as they do for each other.
final class AutoPush: Sendable {
  /// The functions of the client that automatic pushes call.
  struct Work: Sendable {
    /// The collections with something to send.
    var waiting: @Sendable () throws(StoreError) -> [String]
    /// Pushes one of them; gives how many writes were refused.
    var push: @Sendable (String) throws(StoreError) -> Int
  }

  private struct State {
    var isSaved = false
    /// The network is back, or a user logged in.
    var isRevived = false
    var isClosed = false
  }

  private let state = Monitor(State())
  private let election: ProcessLock
  private let work: Work
  private let schedule: Schedule
  private let worker = Monitor<Worker?>(nil)

  /// Starts the thread. Throws if there is none to be had.
  init(_ election: ProcessLock, _ work: Work, schedule: Schedule = Schedule()) throws(StoreError) {
    self.election = election
    self.work = work
    self.schedule = schedule
    let worker = Worker("kv-push") { [self] in run() }
    guard let worker else { throw StoreError(.internal, "No thread could be started.") }
    self.worker.withLock { $0 = worker }
  }

  /// Whether this is called from its thread.
  var isOwnThread: Bool { worker.withLock { $0 }?.isCurrent ?? false }

  /// Says that something was saved here.
  func didSave() { state.withLockNotifyingAll { $0.isSaved = true } }

  /// The network is back, or a user has logged in.
  func revive() { state.withLockNotifyingAll { $0.isRevived = true } }

  /// Ends the thread and waits for it. The push that runs has to be cancelled by the caller.
  func close() {
    state.withLockNotifyingAll { $0.isClosed = true }
    worker.withLock { $0 }?.join()
  }

  // MARK: The thread

  private func run() {
    var schedule = schedule
    var isElected = false
    defer { if isElected { election.end() } }
    while !state.withLock({ $0.isClosed }) {
      state.withLock { ($0.isSaved, $0.isRevived) = (false, false) }
      if !isElected { isElected = election.begin() }
      let outcome = isElected ? round() : .notElected
      wait(schedule.pause(after: outcome, share: Double.random(in: 0...1)), &schedule)
    }
  }

  /// Pushes every collection in which something waits.
  private func round() -> Schedule.Outcome {
    var refused = 0
    do throws(StoreError) {
      for collection in try work.waiting() { refused += try work.push(collection) }
    } catch {
      return .failed
    }
    return refused > 0 ? .refused : .empty
  }

  /// Sleeps so long, or until there is a reason to look again.
  private func wait(_ seconds: Double, _ schedule: inout Schedule) {
    let isOpenToSaves = schedule.isOpenToSaves
    let reason = state.wait(until: .after(seconds: seconds)) { state -> Bool? in
      if state.isClosed || state.isRevived { return true }
      return state.isSaved && isOpenToSaves ? false : nil
    }
    guard let reason else { return }
    if reason { schedule.startAnew() }
    // Saves in a row go in one batch; and a network that comes and goes causes no busy loop.
    _ = state.wait(until: .after(seconds: Schedule.gathering)) { $0.isClosed ? true : nil }
  }
}

/// The automatic pushes of a client, one for each open tag. Safe from any thread.
final class AutoPushes: Sendable {
  private let all = Monitor<[AutoPush]>([])
  private let schedule: AutoPush.Schedule

  init(_ schedule: AutoPush.Schedule) { self.schedule = schedule }

  func add(_ election: ProcessLock, _ work: AutoPush.Work) throws(StoreError) {
    let new = try AutoPush(election, work, schedule: schedule)
    all.withLock { $0.append(new) }
  }

  var isOwnThread: Bool { all.withLock { $0 }.contains { $0.isOwnThread } }

  func didSave() { for push in all.withLock({ $0 }) { push.didSave() } }

  func revive() { for push in all.withLock({ $0 }) { push.revive() } }

  func close() {
    let open = all.withLock { all in
      defer { all = [] }
      return all
    }
    for push in open { push.close() }
  }
}
