import KVBase
import KVSync
import Testing

@Suite("The thread of a follow") struct FollowerTests {
  @Test("a save wakes it, however long it would rest") func woken() throws {
    let pushes = Monitor(0)
    let states = Monitor<[FollowState]>([])
    let work = Follower.Work(
      listen: { _, _ in nil }, apply: { _ in },
      push: { _ in
        pushes.withLockNotifyingAll { $0 += 1 }
        return nil
      }, read: { _ in })
    let follower = Follower(
      collection: "notes", filter: "{}", interval: 3_600, usesLive: false, rest: 3_600, work,
      changed: { states.withLockNotifyingAll { $0.append(.current) } })
    let thread = try #require(Worker("follow") { follower.run() })
    defer {
      follower.close()
      thread.join()
    }
    func wait<T: Sendable>(_ monitor: Monitor<T>, _ isThere: (T) -> Bool) -> Bool {
      monitor.wait(until: .after(seconds: 60)) { isThere($0) ? true : nil } != nil
    }
    #expect(wait(states) { _ in follower.status.state == .current })
    for number in 2...5 {
      follower.didSave()
      try #require(wait(pushes) { $0 >= number })
    }
  }
}
