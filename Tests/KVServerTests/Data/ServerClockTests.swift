internal import KVBase
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("The server's clock") struct ServerClockTests {
  /// A wall clock that the test sets.
  private let wall = Monitor<Int64>(1000)

  private func clock(after: Int64 = 0) -> ServerClock {
    let wall = wall
    return ServerClock(after: after, now: { Timestamp(milliseconds: wall.withLock { $0 }) })
  }

  @Test("never goes back when the wall clock does, nor before what the data holds")
  func monotonic() {
    let clock = clock(after: 5000)
    #expect(clock.beginWrite().milliseconds == 5001)
    wall.withLock { $0 = 6000 }
    #expect(clock.beginWrite().milliseconds == 6000)
    wall.withLock { $0 = 10 }
    // Each write is later than the one before, or a copy made in between would not be known to lack it.
    #expect(clock.beginWrite().milliseconds == 6001)
    #expect(clock.beginWrite().milliseconds == 6002)
    #expect(clock.last.milliseconds == 6002)
  }

  @Test("stores times that run ahead of a wall clock that was set back")
  func coversWhatRunsAhead() {
    let wall = wall
    let clock = ServerClock(after: 5000, covered: 5000) {
      Timestamp(milliseconds: wall.withLock { $0 })
    }
    #expect(clock.timeToStore() == nil)
    clock.endWrite(clock.beginWrite())
    let stored = clock.timeToStore() ?? 0
    #expect(stored > 5001)
    clock.cover(stored)
    #expect(clock.readStart().milliseconds == 5001)
  }

  @Test("is hardly further ahead of the wall clock after many crashes than after one")
  func crashes() {
    let wall = wall
    var stored: Int64 = 1000
    for _ in 0..<50 {
      wall.withLock { $0 += 1 }
      let clock = ServerClock(after: stored, covered: stored) {
        Timestamp(milliseconds: wall.withLock { $0 })
      }
      clock.endWrite(clock.beginWrite())
      stored = clock.timeToStore() ?? stored
    }
    #expect(stored > 1000)
    #expect(stored < 1000 + ServerClock.restoredLead)
  }

  @Test("dates a deletion later than what it deletes, and what is made after it later again")
  func deletions() {
    let clock = clock(after: 1500)
    let first = clock.creationTime(clock.beginWrite())
    #expect(first.milliseconds > 1500)
    let deleted = clock.deletionTime(clock.beginWrite(), after: first)
    #expect(deleted > first)
    let second = clock.creationTime(clock.beginWrite())
    #expect(second > deleted)
    #expect(clock.creationTime(clock.beginWrite()) == second)
    wall.withLock { $0 = 9000 }
    #expect(clock.creationTime(clock.beginWrite()).milliseconds == 9000)
  }

  @Test("gives reads no time that is not covered by what is stored, and knows the others")
  func covered() {
    let wall = wall
    let gap = ServerClock.Gap(after: 100, until: 1000)
    let clock = ServerClock(after: 1000, covered: 1000, gaps: [gap]) {
      Timestamp(milliseconds: wall.withLock { $0 })
    }
    #expect(clock.timeToStore() == nil)
    wall.withLock { $0 = 2000 }
    #expect(clock.readStart().milliseconds == 1000)
    let stored = clock.timeToStore() ?? 0
    #expect(stored > 2000)
    clock.cover(stored)
    #expect(clock.readStart().milliseconds == 2000 && clock.timeToStore() == nil)
    for time: Int64 in [50, 100, 1000, 1500, 2000] {
      #expect(clock.hasGiven(Timestamp(milliseconds: time)))
    }
    for time: Int64 in [101, 999, 2001] {
      #expect(!clock.hasGiven(Timestamp(milliseconds: time)))
    }
  }

  @Test("gives reads no time later than a write that they may not see yet")
  func sendGate() {
    let clock = clock()
    let write = clock.beginWrite()
    wall.withLock { $0 = 2000 }
    let second = clock.beginWrite()
    #expect(clock.readStart() == write)
    clock.endWrite(write)
    #expect(clock.readStart() == second)
    clock.endWrite(second)
    #expect(clock.readStart().milliseconds == 2000)
  }
}
