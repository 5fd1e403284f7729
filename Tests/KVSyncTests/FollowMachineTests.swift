import KVBase
import KVSync
import Testing

@Suite("What a follow does next") struct FollowMachineTests {
  private static let offline = StoreError(.network, "Nobody.")
  private var machine = FollowMachine(interval: 60, usesLive: true)

  /// Lets the machine do what it wants at a moment; what it does fails as told, or succeeds.
  private mutating func steps(
    at now: Double, failing failures: [FollowMachine.Step: StoreError] = [:]
  ) -> [FollowMachine.Step] {
    var done: [FollowMachine.Step] = []
    while done.count < 20 {
      let step = machine.next(at: now)
      if case .wait = step { return done }
      done.append(step)
      machine.finished(
        step, failures[step].map { .failed($0) } ?? .done, at: now, share: 1)
    }
    return done
  }

  private mutating func wait(at now: Double) -> Double {
    if case .wait(let seconds) = machine.next(at: now) { seconds } else { 0 }
  }

  /// Live data is connected, and everything was read once.
  private mutating func begin() {
    #expect(steps(at: 0) == [.listen(1), .push])
    machine.receive(.connected(1), at: 0)
    #expect(steps(at: 0) == [.read])
    #expect(machine.state == .current && machine.isLive)
  }

  @Test(
    "Live data is listened to before the first read, and then it is read every quarter of an hour")
  mutating func live() {
    #expect(machine.state == .starting)
    begin()
    for second in 1..<900 { #expect(steps(at: Double(second)) == [.push]) }
    #expect(machine.state == .current)
    // What a user may not read any more has left without a message, perhaps.
    #expect(steps(at: 900) == [.push, .read])
    #expect(machine.state == .current)
    for second in 901..<1800 { #expect(steps(at: Double(second)) == [.push]) }
    #expect(steps(at: 1800) == [.push, .read])
  }

  @Test(
    "A certificate that is not trusted is not being offline: the error is shown, and tried again with pauses"
  )
  mutating func certificate() {
    let fault = StoreError(.certificate, "The certificate has expired.")
    #expect(steps(at: 0, failing: [.listen(1): fault]) == [.listen(1)])
    #expect(machine.state == .behind(fault))
    #expect(wait(at: 0) == 1)
  }

  @Test("A longer interval holds with live data as well")
  mutating func longInterval() {
    machine = FollowMachine(interval: 3600, usesLive: true)
    begin()
    #expect(steps(at: 3599) == [.push])
    #expect(steps(at: 3600) == [.push, .read])
  }

  @Test("A live service that says nothing keeps the first read waiting three seconds")
  mutating func silence() {
    #expect(steps(at: 0) == [.listen(1), .push])
    #expect(steps(at: 2.9) == [.push])
    #expect(steps(at: 3) == [.read])
    #expect(machine.state == .current && !machine.isLive)
    // Polled for until it says something, which is a reason to read once more.
    #expect(steps(at: 62) == [.push])
    #expect(steps(at: 63) == [.push, .read])
    machine.receive(.connected(1), at: 64)
    #expect(machine.state == .behind(nil))
    #expect(steps(at: 64) == [.push, .read])
    #expect(steps(at: 300) == [.push])
  }

  @Test("Without live data it polls")
  mutating func polls() {
    machine = FollowMachine(interval: 5, usesLive: true)
    let failures = [FollowMachine.Step.listen(1): StoreError(.unsupported, "No live data.")]
    #expect(steps(at: 0, failing: failures) == [.listen(1), .push, .read])
    #expect(steps(at: 4) == [.push])
    #expect(steps(at: 5) == [.push, .read])
    #expect(machine.state == .current)
    machine = FollowMachine(interval: 5, usesLive: false)
    #expect(steps(at: 0) == [.push, .read])
  }

  @Test(
    "While nobody answers it tries again after 1, 2, 4 … 60 seconds, and at once when the network is back"
  )
  mutating func backoff() {
    let failures = [FollowMachine.Step.listen(1): Self.offline]
    #expect(steps(at: 0, failing: failures) == [.listen(1)])
    #expect(machine.state == .offline(Self.offline))
    var (now, number, pauses) = (0.0, 1, [Double]())
    for _ in 0..<8 {
      pauses.append(wait(at: now))
      now += pauses.last ?? 0
      number += 1
      #expect(steps(at: now, failing: [.listen(number): Self.offline]) == [.listen(number)])
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60])
    machine.receive(.saved, at: now)
    #expect(wait(at: now) == 60)
    machine.receive(.revived, at: now)
    #expect(steps(at: now) == [.listen(number + 1), .push])
    machine.receive(.connected(number + 1), at: now)
    #expect(steps(at: now) == [.push, .read])
    #expect(machine.state == .current)
  }

  @Test("What was missed, a connection that broke and what was cleared are made up for")
  mutating func catchesUp() {
    begin()
    machine.receive(.missed, at: 1)
    #expect(machine.state == .behind(nil))
    #expect(steps(at: 1) == [.push, .read])
    machine.receive(.disconnected(1), at: 2)
    #expect(machine.state.name == "offline" && !machine.isLive)
    #expect(steps(at: 10) == [.push])
    machine.receive(.connected(1), at: 10)
    #expect(steps(at: 10) == [.read])
    #expect(machine.state == .current)
  }

  @Test("A read that began before the connection broke does not hide that it did")
  mutating func readAcrossBreak() {
    begin()
    machine.receive(.missed, at: 1)
    while machine.next(at: 1) != .read { machine.finished(.push, .done, at: 1, share: 1) }
    machine.receive(.disconnected(1), at: 2)
    machine.finished(.read, .done, at: 3, share: 1)
    #expect(machine.state.name == "offline")
    #expect(steps(at: 63) == [.push, .read])
    #expect(machine.state == .current)
  }

  @Test("A connection that stays broken is polled past")
  mutating func broken() {
    begin()
    machine.receive(.disconnected(1), at: 30)
    #expect(steps(at: 59) == [.push])
    #expect(steps(at: 60) == [.push, .read])
    #expect(machine.state == .current && !machine.isLive)
  }

  @Test("A miss during a read is made up for by another one")
  mutating func missedMeanwhile() {
    begin()
    machine.receive(.missed, at: 1)
    #expect(machine.next(at: 0.5) == .read)
    machine.receive(.missed, at: 1)
    machine.finished(.read, .done, at: 1, share: 1)
    #expect(machine.state == .behind(nil))
    #expect(steps(at: 1) == [.push, .read])
  }

  @Test("After a logout it listens again; refused, later; switched off, when it is wanted again")
  mutating func ended() {
    begin()
    machine.receive(.ended(1, nil), at: 1)
    #expect(steps(at: 1) == [.listen(2), .push])
    machine.receive(.ended(1, nil), at: 1)
    machine.receive(.connected(1), at: 1)
    #expect(!machine.isLive)
    machine.receive(.ended(2, StoreError(.forbidden, "No.")), at: 1)
    #expect(steps(at: 1.5) == [.read])
    #expect(machine.state == .current)
    #expect(machine.next(at: 2.0) == .listen(3))
    machine.finished(.listen(3), .switchedOff, at: 2, share: 1)
    for second in 3...50 { #expect(steps(at: Double(second)) == [.push]) }
    machine.receive(.liveWanted, at: 51)
    #expect(steps(at: 51) == [.listen(4), .push])
  }

  @Test("Writes that are refused wait longer each time, and hold up no read")
  mutating func refused() {
    begin()
    let refusal = StoreError(.server, "Busy.")
    machine.receive(.saved, at: 1)
    #expect(machine.next(at: 1) == .push)
    machine.finished(.push, .refused(refusal), at: 1, share: 1)
    #expect(machine.state == .behind(refusal))
    #expect(wait(at: 1) == 1)
    #expect(machine.next(at: 2) == .push)
    machine.finished(.push, .refused(refusal), at: 2, share: 1)
    machine.receive(.missed, at: 3)
    #expect(steps(at: 3) == [.read])
    machine.receive(.saved, at: 3)
    #expect(steps(at: 3.06) == [.push])
    #expect(machine.state == .current)
  }

  @Test("What a login or a logout has cancelled begins again, and is no failure")
  mutating func cancelled() {
    begin()
    machine.receive(.missed, at: 0.5)
    #expect(machine.next(at: 0.5) == .read)
    machine.finished(.read, .failed(StoreError(.cancelled, "")), at: 0.5, share: 1)
    #expect(machine.state == .behind(nil))
    #expect(steps(at: 0.5) == [.read])
    machine.close()
    #expect(machine.state == .closed)
  }
}
