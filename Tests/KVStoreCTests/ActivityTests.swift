import KVBase
import KVSync
import Testing

@testable import KVStoreC

@Suite("Activity") struct ActivityTests {
  @Test("nothing enters once closing has begun")
  func refuses() throws {
    let activity = Activity()
    try activity.enter()
    activity.beginClosing()
    #expect(throws: StoreError(.misuse, "The client is closed.")) { try activity.enter() }
    activity.leave()
    activity.waitUntilOver()
  }

  @Test("closing waits for all that entered")
  func waits() {
    for _ in 0..<100 {
      let (activity, inside) = (Activity(), Monitor(0))
      let workers = (0..<4).compactMap { _ in
        Worker("activity") {
          while (try? activity.enter()) != nil {
            inside.withLockNotifyingAll { $0 += 1 }
            inside.withLockNotifyingAll { $0 -= 1 }
            activity.leave()
          }
        }
      }
      activity.beginClosing()
      activity.waitUntilOver()
      #expect(inside.withLock { $0 } == 0)
      for worker in workers { worker.join() }
    }
  }

  @Test("what steps outside may wait for the end of everything, and comes back to find it closed")
  func outside() throws {
    let activity = Activity()
    try activity.enter()
    try activity.suspended { () throws(StoreError) in
      activity.beginClosing()
      activity.waitUntilOver()
    }
    #expect(throws: StoreError.self) { try activity.enter() }
    activity.leave()
    activity.waitUntilOver()
  }
}
