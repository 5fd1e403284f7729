import KVBase
import KVSync
import Testing

@Suite("What the synchronisation in the background does next") struct SyncMachineTests {
  private static let offline = StoreError(.network, "Nobody.")
  private static let refused = StoreError(.forbidden, "Not for you.")
  private var machine = SyncMachine(2, interval: 60, usesLive: true)

  /// Lets the machine do what it wants at a moment; what it does fails as told, or succeeds.
  private mutating func steps(
    at now: Double, failing failures: [SyncMachine.Step: StoreError] = [:]
  ) -> [SyncMachine.Step] {
    var done: [SyncMachine.Step] = []
    while done.count < 20 {
      let step = machine.next(at: now)
      if case .wait = step { return done }
      done.append(step)
      let success: SyncMachine.Outcome =
        if case .read = step { .synced(SyncedCounts()) } else { .begun }
      machine.finished(step, failures[step].map { .failed($0) } ?? success, at: now, share: 1)
    }
    return done
  }

  private static let listening: [SyncMachine.Step] = [
    .listen(0, number: 2), .listen(1, number: 2),
  ]

  /// Both are subscribed to, and everything was read once.
  private mutating func begin() {
    machine.receive(.start(isOnline: nil), at: 0)
    #expect(steps(at: 0) == Self.listening)
    for index in 0...1 { machine.receive(.connected(index, number: 2), at: 0) }
    #expect(steps(at: 0) == [.read(0), .read(1)])
    #expect(machine.isReady)
    _ = machine.takeReports()
  }

  @Test("Nothing is read before everything is subscribed to, and the reports have their order")
  mutating func order() {
    #expect(steps(at: 0).isEmpty)
    machine.receive(.start(isOnline: nil), at: 0)
    #expect(steps(at: 0) == Self.listening)
    machine.receive(.connected(1, number: 2), at: 1)
    #expect(steps(at: 1).isEmpty)
    machine.receive(.connected(0, number: 2), at: 2)
    #expect(steps(at: 2) == [.read(0), .read(1)])
    #expect(
      machine.takeReports() == [
        .networkStatus(isActive: false), .outboxStatus, .networkStatus(isActive: true),
        .subscriptionsEstablished, .queriesStarted([0, 1]), .modelSynced(0, SyncedCounts()),
        .modelSynced(1, SyncedCounts()), .queriesReady, .started, .ready,
      ])
    // From now on live data reports changes. Lost rights it may not report, so that all is read every quarter of an hour.
    for second in 3..<902 { #expect(steps(at: Double(second)).isEmpty) }
    #expect(steps(at: 902) == [.read(0), .read(1)])
    for second in 903..<1802 { #expect(steps(at: Double(second)).isEmpty) }
    #expect(steps(at: 1802) == [.read(0), .read(1)])
  }

  @Test("A subscription that is refused, or never answered, holds up nothing, and is polled")
  mutating func refusedSubscriptions() {
    machine.receive(.start(isOnline: nil), at: 0)
    #expect(steps(at: 0, failing: [.listen(0, number: 2): Self.refused]) == Self.listening)
    #expect(steps(at: 0.5).isEmpty)
    #expect(steps(at: 1) == [.listen(0, number: 3)])
    machine.receive(.ended(0, number: 3, Self.refused), at: 1)
    #expect(steps(at: 14.9) == [.listen(0, number: 4)])
    machine.receive(.ended(0, number: 4, Self.refused), at: 14.9)
    // The other one has said nothing for as long as anybody waits.
    #expect(steps(at: 15) == [.read(0), .read(1)])
    #expect(machine.isReady)
    #expect(steps(at: 91).contains(.read(0)))
  }

  @Test(
    "A collection that fails is reported, the others are read, and ready comes; it is tried again")
  mutating func refusedModel() {
    machine.receive(.start(isOnline: nil), at: 0)
    _ = steps(at: 0)
    for index in 0...1 { machine.receive(.connected(index, number: 2), at: 0) }
    #expect(steps(at: 0, failing: [.read(0): Self.refused]) == [.read(0), .read(1)])
    let reports = machine.takeReports()
    #expect(reports.contains(.modelFailed(0, Self.refused)))
    #expect(reports.last == .ready)
    #expect(steps(at: 0.9).isEmpty)
    #expect(steps(at: 1, failing: [.read(0): Self.refused]) == [.read(0)])
    #expect(steps(at: 2).isEmpty)
    #expect(steps(at: 3) == [.read(0)])
    #expect(machine.isSynced(0) && machine.error(of: 0) == nil)
  }

  @Test("When nobody answers everything waits, and goes on where it was")
  mutating func offline() {
    machine.receive(.start(isOnline: nil), at: 0)
    _ = steps(at: 0)
    for index in 0...1 { machine.receive(.connected(index, number: 2), at: 0) }
    #expect(steps(at: 0, failing: [.read(1): Self.offline]) == [.read(0), .read(1)])
    #expect(!machine.isReady)
    #expect(machine.takeReports().last == .networkStatus(isActive: false))
    #expect(steps(at: 0.9).isEmpty)
    machine.receive(.network(isOnline: true), at: 0.9)
    #expect(steps(at: 0.9) == [.read(1)])
    #expect(machine.takeReports().last == .ready)
  }

  @Test("After a lost connection all is subscribed to and read again, and ready is not told twice")
  mutating func reconnection() {
    begin()
    for index in 0...1 { machine.receive(.disconnected(index, number: 2), at: 10) }
    #expect(steps(at: 20).isEmpty)
    for index in 0...1 { machine.receive(.connected(index, number: 2), at: 30) }
    #expect(steps(at: 30).isEmpty)
    #expect(steps(at: 30.1) == [.read(0), .read(1)])
    #expect(
      machine.takeReports() == [
        .subscriptionsEstablished, .queriesStarted([0, 1]), .modelSynced(0, SyncedCounts()),
        .modelSynced(1, SyncedCounts()), .queriesReady,
      ])
  }

  @Test("What one collection may have missed is read there, and nowhere else")
  mutating func missed() {
    begin()
    machine.receive(.missed(1), at: 10)
    #expect(steps(at: 10.1) == [.read(1)])
  }

  @Test("Something that is missed while it is read is read once more")
  mutating func missedMeanwhile() {
    begin()
    machine.receive(.missed(0), at: 10)
    #expect(machine.next(at: 10.1) == .read(0))
    machine.receive(.missed(0), at: 10.2)
    machine.finished(.read(0), .synced(SyncedCounts()), at: 10.3, share: 1)
    #expect(steps(at: 10.4) == [.read(0)])
  }

  @Test("A stop ends everything, and what the last run still says is not taken for the next one's")
  mutating func stop() {
    begin()
    machine.receive(.missed(0), at: 10)
    machine.receive(.stop, at: 10)
    #expect(steps(at: 100).isEmpty && machine.takeReports().isEmpty)
    machine.receive(.start(isOnline: true), at: 100)
    machine.receive(.connected(0, number: 2), at: 100)
    #expect(machine.next(at: 100) == .listen(0, number: 4))
    #expect(!machine.isReady)
  }

  @Test("A collection that is added later is subscribed to and read as the others are")
  mutating func added() {
    begin()
    machine.receive(.added, at: 10)
    #expect(steps(at: 10.1) == [.listen(2, number: 1), .read(2)])
    machine.receive(.connected(2, number: 1), at: 11)
    #expect(steps(at: 11.1) == [.read(2)])
  }
}
