import KVBase
import KVSync
import Testing

@Suite("The synchronisation in the background") struct SynchroniserTests {
  private let reads = Monitor(0)

  private func begin() throws -> (Synchroniser, Worker) {
    let synchroniser = Synchroniser(
      1, interval: 1e5, usesLive: false,
      .init(
        listen: { _, _, _ in nil }, apply: { _, _ in [] },
        read: { [reads] _, _ in
          reads.withLockNotifyingAll { $0 += 1 }
          return SyncedCounts()
        }, report: { _ in }))
    let worker = try #require(Worker("test") { synchroniser.run() })
    synchroniser.start(isOnline: true)
    return (synchroniser, worker)
  }

  private func hasRead(_ count: Int) -> Bool {
    reads.wait(until: .after(seconds: 60)) { $0 >= count ? true : nil } ?? false
  }

  @Test("What is missed while it waits for a day is read soon") func missed() throws {
    let (synchroniser, worker) = try begin()
    defer {
      synchroniser.close()
      worker.join()
    }
    #expect(hasRead(1))
    for count in 2...4 {
      synchroniser.receive(.missed(0))
      #expect(hasRead(count))
    }
  }

  @Test("It can be started again after a stop, and reads again") func restart() throws {
    let (synchroniser, worker) = try begin()
    defer {
      synchroniser.close()
      worker.join()
    }
    #expect(hasRead(1))
    synchroniser.stop()
    #expect(!synchroniser.isReady)
    synchroniser.start(isOnline: true)
    #expect(hasRead(2))
  }
}
