import KVBase
import KVSync
import Testing

@Suite("Progress") struct ProgressTests {
  @Test("never moves backwards, whatever is taken back and comes again") func monotonic() {
    let seen = Monitor<[Progress.Snapshot]>([])
    let progress = Progress()
    progress.follow { snapshot in seen.withLock { $0.append(snapshot) } }
    let part = progress.part()
    part.expect(10)
    part.advance(by: 6)
    part.subtract(6)
    part.advance(by: 4)
    #expect(progress.snapshot.entitiesDone == 6)
    part.advance(by: 6)
    #expect(progress.snapshot.entitiesDone == 10 && progress.snapshot.entitiesTotal == 10)
    let all = seen.withLock { $0 }
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.entitiesDone <= $1.entitiesDone })
  }

  @Test("goes on where the part before ended; a total that was too small grows") func parts() {
    let progress = Progress()
    let push = progress.part()
    push.expect(3)
    push.advance(by: 3)
    let pull = progress.part()
    pull.expect(5)
    #expect(progress.snapshot.entitiesTotal == 8)
    pull.advance(by: 7)
    #expect(progress.snapshot.entitiesDone == 10 && progress.snapshot.entitiesTotal == 10)
    pull.expect(1)
    #expect(progress.snapshot.entitiesTotal == 10)
  }

  @Test("costs the same however often it has changed, in time and in stack") func longLife() {
    let seen = Monitor(0)
    let progress = Progress()
    progress.follow { _ in seen.withLock { $0 += 1 } }
    for _ in 0..<100_000 { progress.update { $0.bytesDone += 1 } }
    #expect(progress.snapshot.bytesDone == 100_000 && seen.withLock { $0 } == 100_000)
  }

  @Test("has no total while that is unknown") func unknown() {
    let progress = Progress()
    progress.part().advance(by: 5)
    #expect(progress.snapshot.entitiesTotal == 0)
  }
}
