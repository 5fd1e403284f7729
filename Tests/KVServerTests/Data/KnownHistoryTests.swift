internal import KVBase
import Testing

@testable import KVServerCore

@Suite("How far back changes are known") struct KnownHistoryTests {
  private let now = Timestamp.now()

  /// A moment so many days ago.
  private func before(days: Int64) -> Timestamp {
    Timestamp(milliseconds: now.milliseconds - days * 86_400_000)
  }

  @Test("A history reaches back to its beginning, the last change of the rule, or its oldest day")
  func start() {
    let (early, late) = (before(days: 9), before(days: 2))
    #expect(KnownHistory.start(days: 30, began: late, ruleSince: early) == late)
    #expect(KnownHistory.start(days: 30, began: early, ruleSince: late) == late)
    let oldest = KnownHistory.start(days: 5, began: early, ruleSince: early)
    #expect(oldest >= before(days: 5))
    #expect(oldest < before(days: 4))
    #expect(KnownHistory.start(days: 5) >= oldest)
  }

  @Test("A moment is refused for the first reason that there is")
  func reasons() {
    let known = KnownHistory(from: before(days: 5), rightsSince: before(days: 3))
    func code(_ known: KnownHistory, _ since: Timestamp, isOfRead: Bool = true) -> String? {
      do throws(ServerError) { try known.check(since, isOfRead: isOfRead) } catch {
        return error.debug
      }
      return nil
    }
    let none = KnownHistory(from: nil, rightsSince: nil)
    #expect(code(none, now) == "the collection keeps no history")
    #expect(code(known, before(days: 6))?.hasPrefix("the history starts at ") == true)
    #expect(code(known, before(days: 4)) == "the user has joined or left a group since")
    #expect(code(known, now, isOfRead: false)?.hasPrefix("since is not the time of") == true)
    #expect(code(known, before(days: 3)) == nil)
    #expect(code(KnownHistory(from: before(days: 5), rightsSince: nil), before(days: 5)) == nil)
  }

  @Test("An answer holds 10,000 ids and 100 MiB, and not one more")
  func size() throws {
    try KnownHistory.checkSize(count: 10_000, bytes: 100 << 20)
    for (count, bytes) in [(10_001, 0), (1, 100 << 20 + 1)] {
      let error = #expect(throws: ServerError.self) {
        try KnownHistory.checkSize(count: count, bytes: bytes)
      }
      #expect(error?.code == .resultSetSizeExceeded)
    }
  }
}
