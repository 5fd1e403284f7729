#if canImport(Glibc)
  internal import Glibc
#endif

/// A value that a lock protects, with a condition to wait on.
///
/// The value can be reached only while the lock is held. `wait` releases the lock until another thread
/// calls `withLockNotifyingAll` and the condition holds. The deadline is on the monotonic clock.
///
/// `@unchecked Sendable`: every access to `value` happens with `mutex` held.
package final class Monitor<Value>: @unchecked Sendable {
  /// What the pointers lead to, in one piece: monitors are made and freed with every call.
  private let memory: UnsafeMutableRawPointer
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  /// Outside of the object: reaching it costs no check for exclusive access, which the lock gives.
  private let value: UnsafeMutablePointer<Value>

  package init(_ value: sending Value) {
    typealias Layout = MemoryLayout<Value>
    let end = MemoryLayout<pthread_mutex_t>.stride + MemoryLayout<pthread_cond_t>.stride
    let start = (end + Layout.alignment - 1) & ~(Layout.alignment - 1)
    // An empty value has a byte as well: its address would be that of other memory, which the thread sanitizer takes for a race.
    memory = .allocate(
      byteCount: start + max(Layout.size, 1),
      alignment: max(Layout.alignment, MemoryLayout<pthread_mutex_t>.alignment))
    mutex = memory.bindMemory(to: pthread_mutex_t.self, capacity: 1)
    condition = (memory + MemoryLayout<pthread_mutex_t>.stride)
      .bindMemory(to: pthread_cond_t.self, capacity: 1)
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    self.value = (memory + start).bindMemory(to: Value.self, capacity: 1)
    self.value.initialize(to: value)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    value.deinitialize(count: 1)
    memory.deallocate()
  }

  /// Runs `body` with the lock held, then wakes everybody who waits: once the lock is free, or those who are woken
  /// would have to wait for it.
  package func withLockNotifyingAll<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E)
    -> R
  {
    pthread_mutex_lock(mutex)
    defer {
      pthread_mutex_unlock(mutex)
      pthread_cond_broadcast(condition)
    }
    return try body(&value.pointee)
  }

  /// Runs `body` with the lock held, then wakes one of those who wait: for handing one thing to one of
  /// several that are equal.
  package func withLockNotifyingOne<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E)
    -> R
  {
    pthread_mutex_lock(mutex)
    defer {
      pthread_mutex_unlock(mutex)
      pthread_cond_signal(condition)
    }
    return try body(&value.pointee)
  }

  /// Runs `body` with the lock held and wakes no waiter: for reads, or for changes that have no waiters.
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }

  /// Waits until `body` gives something other than nil, or the deadline passes (then nil).
  ///
  /// `body` runs with the lock held, once at first and again after each wake-up.
  package func wait<R>(until deadline: Deadline = .never, for body: (inout Value) -> R?) -> R? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value.pointee) { return result }
      guard let nanoseconds = deadline.nanoseconds else {
        pthread_cond_wait(condition, mutex)
        continue
      }
      var time = timespec(
        tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
      if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT, deadline.hasPassed {
        return body(&value.pointee)
      }
    }
  }
}
