import KVBase
import KVSync
import KVTestSupport
import Testing

/// A session whose token is good for nothing any more, until it is renewed.
private final class FakeSession: SessionRenewal {
  struct State { var token = "old", renewals = 0, isOver = false }
  let state = Monitor(State())

  func proof() throws(StoreError) -> String? { state.withLock { $0.token } }

  func renew(_ refused: String, _ call: Call) throws(StoreError) -> Bool {
    state.withLockNotifyingAll { state in
      state.renewals += 1
      if !state.isOver { state.token = "good" }
      return !state.isOver
    }
  }
}

/// A live service that knows the renewed session only, and polls of those who have registered since.
private final class FakeService: LiveRemote {
  struct State {
    var registers = 0
    var mayListen = true
    var isAway = false
    var refused: [LiveTopic] = []
  }

  let session: FakeSession
  let state = Monitor(State())

  init(_ session: FakeSession) { self.session = session }

  private func prove() throws(StoreError) {
    if state.withLock({ $0.isAway }) { throw StoreError(.network, "away") }
    guard try session.proof() == "good" else { throw StoreError(.unauthorized, "expired") }
    guard state.withLock({ $0.mayListen }) else { throw StoreError(.forbidden, "no") }
  }

  func register(
    _ userId: String?, device: String, call: Call
  ) throws(StoreError) -> LiveRegistration {
    try prove()
    state.withLockNotifyingAll { $0.registers += 1 }
    return RenewingLiveTests.registration
  }

  func unregister(
    _ registration: LiveRegistration, token: String?, call: Call
  ) throws(StoreError) {}

  func join(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) -> BackendMoment? {
    try prove()
    return BackendMoment("joined \(topic.collection ?? "")")
  }

  func leave(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) { try prove() }

  func poll(
    _ registration: LiveRegistration, from position: LivePosition?, call: Call
  ) throws(StoreError) -> LivePoll {
    let state = state.withLock { $0 }
    guard state.refused.isEmpty, state.registers > 0 else {
      return .refused(state.refused, StoreError(.forbidden, "403"))
    }
    return .messages([], next: LivePosition(position?.text ?? "1"))
  }

  func probe(_ registration: LiveRegistration, _ call: Call) throws(StoreError) {}
}

@Suite("A session that runs out while live data is told") struct RenewingLiveTests {
  static let registration = LiveRegistration(
    userId: "u1", device: "d")

  private let session = FakeSession()
  private let service: FakeService
  private let live: RenewingLive
  private let position = LivePosition("7")
  private let refusal = LivePoll.refused([], StoreError(.forbidden, "403"))

  init() {
    service = FakeService(session)
    live = RenewingLive(service, session)
  }

  @Test("is renewed, once, for a registration, a subscription and its end")
  func requests() throws {
    #expect(try live.register("u1", device: "d", call: Call()) == Self.registration)
    #expect(
      try live.join(.collection("notes"), Self.registration, call: Call())?.text == "joined notes")
    try live.leave(.collection("notes"), Self.registration, call: Call())
    #expect(session.state.withLock { $0.renewals } == 1)
    session.state.withLockNotifyingAll { $0.token = "old" }
    #expect(
      try live.join(.collection("notes"), Self.registration, call: Call())?.text == "joined notes")
    session.state.withLockNotifyingAll { $0.token = "old" }
    try live.leave(.collection("notes"), Self.registration, call: Call())
    #expect(session.state.withLock { $0.renewals } == 3)
  }

  @Test("is renewed for a poll that is refused, and the device is registered anew")
  func poll() throws {
    #expect(
      try live.poll(Self.registration, from: position, call: Call())
        == .registeredAnew(Self.registration, StoreError(.forbidden, "403")))
    #expect(session.state.withLock { $0.renewals } == 1)
    #expect(service.state.withLock { $0.registers } == 1)
  }

  @Test("ends the polls if it can not be renewed, or the user may not listen any more")
  func refused() throws {
    session.state.withLockNotifyingAll { $0.isOver = true }
    #expect(try live.poll(Self.registration, from: position, call: Call()) == refusal)
    session.state.withLockNotifyingAll { $0.isOver = false }
    service.state.withLockNotifyingAll { $0.mayListen = false }
    #expect(try live.poll(Self.registration, from: position, call: Call()) == refusal)
    #expect(service.state.withLock { $0.registers } == 0)
  }

  @Test("says so if nobody can be asked; a refusal that names collections is none of the session's")
  func others() throws {
    service.state.withLockNotifyingAll { $0.isAway = true }
    #expect(throws: StoreError(.network, "away")) {
      try live.poll(Self.registration, from: position, call: Call())
    }
    service.state.withLockNotifyingAll { ($0.isAway, $0.refused) = (false, [.collection("notes")]) }
    #expect(
      try live.poll(Self.registration, from: position, call: Call())
        == .refused([.collection("notes")], StoreError(.forbidden, "403")))
    #expect(session.state.withLock { $0.renewals } == 0)
  }
}
