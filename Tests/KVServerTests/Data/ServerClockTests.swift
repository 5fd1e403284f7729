internal import KVBase
import Testing

@testable import KVServer

@Suite("The server's clock") struct ServerClockTests {
  /// A wall clock that the test sets.
  private let wall = Monitor<Int64>(1000)

  private func clock(after: Int64 = 0) -> ServerClock {
    let wall = wall
    return ServerClock(after: after, now: { Timestamp(milliseconds: wall.peek { $0 }) })
  }

  @Test("never goes back when the wall clock does, nor behind what the data holds")
  func monotonic() {
    let clock = clock(after: 5000)
    #expect(clock.beginWrite().milliseconds == 5000)
    wall.peek { $0 = 6000 }
    #expect(clock.beginWrite().milliseconds == 6000)
    wall.peek { $0 = 10 }
    #expect(clock.beginWrite().milliseconds == 6000)
    #expect(clock.last.milliseconds == 6000)
  }

  @Test("gives reads no time later than a write that they may not see yet")
  func inFlight() {
    let clock = clock()
    let write = clock.beginWrite()
    wall.peek { $0 = 2000 }
    let second = clock.beginWrite()
    #expect(clock.readStart() == write)
    clock.endWrite(write)
    #expect(clock.readStart() == second)
    clock.endWrite(second)
    #expect(clock.readStart().milliseconds == 2000)
  }
}
