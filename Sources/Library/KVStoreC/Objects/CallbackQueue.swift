internal import Glibc
internal import KVBase
internal import KVSync

/// The callbacks of one client: in order, one at a time, with no lock held.
///
/// They run on a thread of the queue's own, which starts when it is first needed, or – pumped – on
/// whatever thread of the host dispatches. Closing has three cases, in the order of the code:
///
/// 1. from inside a callback: what is left runs here, inside of it, then nothing more;
/// 2. pumped, from elsewhere: waits for a dispatch that is running, then runs what is left here;
/// 3. with a thread, from elsewhere: waits until the thread has run what is left and ended.
final class CallbackQueue: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var jobs = FIFO<Job>()
    /// The thread that runs a job right now, or the dispatch that it belongs to.
    var runner: pthread_t?
    var isClosed = false
    var worker: Worker?
  }

  private let state = Monitor(State())
  /// nil: the queue has a thread.
  private let event: EventDescriptor?

  init(isPumped: Bool) throws(StoreError) {
    guard isPumped else {
      event = nil
      return
    }
    guard let event = EventDescriptor() else {
      throw StoreError(.internal, "The process has no free file descriptor.")
    }
    self.event = event
  }

  /// Readable while callbacks wait; nil if the queue has a thread.
  var descriptor: Int32? { event?.number }

  var isPumped: Bool { event != nil }

  /// Whether this is called from inside a callback.
  var isInside: Bool { state.withLock { $0.runner == pthread_self() } }

  /// Runs a job on this thread: inside of the callback that this is called from, else in the place of a
  /// dispatch. Nil if another one did not end before the call was cancelled or out of time, or if the queue
  /// is closed.
  func runInPlace<R>(_ call: Call, _ job: () -> R) -> R? {
    if isInside { return job() }
    let isOurs = try? call.wait(on: state, timeout: "") { state -> Bool? in
      guard !state.isClosed else { return false }
      guard state.runner == nil else { return nil }
      state.runner = pthread_self()
      return true
    }
    guard isOurs == true else { return nil }
    defer { state.withLockNotifyingAll { $0.runner = nil } }
    return job()
  }

  /// Makes sure that callbacks can run. To be called before something is started that will call back,
  /// so that a lack of threads is an error of the start.
  func prepare() throws(StoreError) {
    guard event == nil else { return }
    let isReady = state.withLock { state -> Bool in
      if state.worker == nil, !state.isClosed {
        state.worker = Worker("kv-callbacks") { [self] in work() }
      }
      return state.worker != nil
    }
    guard isReady else { throw StoreError(.internal, "No thread could be started for callbacks.") }
  }

  /// Adds a job. False after closing: it will never run.
  @discardableResult
  func add(_ job: @escaping Job) -> Bool {
    state.withLockNotifyingAll { state in
      guard !state.isClosed else { return false }
      if state.jobs.isEmpty { event?.raise() }
      state.jobs.append(job)
      return true
    }
  }

  /// Runs jobs on this thread: `most`, or all that wait now. Gives how many. None if another
  /// dispatch is running, on this thread or elsewhere.
  func dispatch(_ max: Int?) -> UInt32 {
    let waiting = state.withLock { state -> Int? in
      guard state.runner == nil else { return nil }
      state.runner = pthread_self()
      return state.jobs.count
    }
    guard let waiting else { return 0 }
    defer { state.withLockNotifyingAll { $0.runner = nil } }
    let limit = min(max ?? waiting, waiting)
    var count = 0
    while count < limit, let job = popFirst() {
      job()
      count += 1
    }
    return UInt32(clamping: count)
  }

  /// Runs what is left, then refuses everything. Returns when no job is running, except the one that
  /// this is called from.
  func close() {
    let isInside = state.withLock { $0.runner == pthread_self() }
    if isInside {
      runRest()
    } else if event != nil {
      _ = state.wait { state -> pthread_t? in
        guard state.runner == nil else { return nil }
        state.runner = pthread_self()
        return state.runner
      }
      runRest()
      state.withLockNotifyingAll { $0.runner = nil }
    } else {
      state.withLockNotifyingAll { $0.isClosed = true }
      state.withLock { $0.worker }?.join()
    }
  }

  private func runRest() {
    while true {
      while let job = popFirst() { job() }
      let isEmpty = state.withLockNotifyingAll { state in
        state.isClosed = state.jobs.isEmpty
        return state.isClosed
      }
      if isEmpty { return }
    }
  }

  private func popFirst() -> Job? {
    state.withLock { state in
      guard let job = state.jobs.popFirst() else { return nil }
      if state.jobs.isEmpty { event?.lower() }
      return job
    }
  }

  /// The thread's work: jobs until the queue is closed and empty.
  private func work() {
    while true {
      let next = state.wait { state -> Job?? in
        if let job = state.jobs.popFirst() {
          state.runner = pthread_self()
          return job
        }
        return state.isClosed ? .some(nil) : nil
      }
      guard let job = next ?? nil else { return }
      job()
      state.withLockNotifyingAll { $0.runner = nil }
    }
  }
}
