internal import Glibc
internal import KVBase
internal import KVSync

/// Lets one process at a time send what a file has queued. Threads of that process share the turn.
///
/// Two processes could otherwise send two versions of one entity so that the older one arrives last. It is a
/// lock on an empty file next to the data, which the system takes back when the process dies; a child made
/// by `fork()` does not have it.
final class ProcessLock: SendingTurn {
  private struct State {
    var descriptor: Int32 = -1
    var holders = 0
  }

  private let path: String
  private let state = Monitor(State())
  /// Seconds until another process is asked again.
  private static let patience = 0.01

  init(path: String) { self.path = path }

  deinit {
    let descriptor = state.withLock { $0.descriptor }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Takes the turn if it is free, or this process has it already; false otherwise, and if there is no lock to
  /// be had. `end` must follow if it was taken.
  func begin() -> Bool {
    state.withLockNotifyingAll { state in (try? enter(&state)) ?? false }
  }

  func begin(_ call: Call) throws(StoreError) {
    while true {
      let isOurs = try state.withLockNotifyingAll { (state) throws(StoreError) in try enter(&state)
      }
      if isOurs { return }
      if call.cancellation.isCancelled { throw StoreError(.cancelled, "The call was cancelled.") }
      guard !call.deadline.hasPassed else {
        throw StoreError(.timeout, "Another process was sending for too long.")
      }
      let pause = Deadline.after(seconds: Self.patience).earlier(call.deadline)
      _ = state.wait(until: pause) { $0.holders > 0 ? true : nil }
    }
  }

  func end() {
    state.withLockNotifyingAll { state in
      state.holders -= 1
      if state.holders == 0 { _ = Self.set(F_UNLCK, state.descriptor) }
    }
  }

  // MARK: Steps

  private func enter(_ state: inout State) throws(StoreError) -> Bool {
    if state.holders == 0 {
      if state.descriptor < 0 { state.descriptor = try open() }
      guard Self.set(F_WRLCK, state.descriptor) else {
        guard errno == EACCES || errno == EAGAIN || errno == EINTR else { throw failure("lock") }
        return false
      }
    }
    state.holders += 1
    return true
  }

  private func open() throws(StoreError) -> Int32 {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("open") }
    return descriptor
  }

  private static func set(_ type: Int32, _ descriptor: Int32) -> Bool {
    var lock = flock()
    lock.l_type = Int16(truncatingIfNeeded: type)
    lock.l_whence = Int16(truncatingIfNeeded: SEEK_SET)
    return fcntl(descriptor, F_SETLK, &lock) == 0
  }

  private func failure(_ verb: String) -> StoreError {
    let kind: StoreError.Kind = errno == ENOSPC || errno == EDQUOT ? .full : .storage
    return StoreError(kind, "Cannot \(verb) \(path): error \(errno).")
  }
}
