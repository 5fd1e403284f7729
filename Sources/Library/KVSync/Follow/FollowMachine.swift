internal import KVBase

/// What a follow does next, and how it stands: a value without a clock or a thread, so that tests can play any
/// schedule.
///
///     starting ──read──▶ current ──missed, reconnected, cleared here──▶ behind ──read──▶ current
///        │ no answer         │                                             │ refused, no user
///        ▼                   ▼                                             ▼
///     offline ◀─────── connection breaks                                behind, with the error
///        ╰───── its pause is over, the network is back, a user logs in ────╯──▶ read
///
/// Live data is listened to before the first read, so that nothing falls in between; without it the backend is read
/// every `interval` seconds, and with it every quarter of an hour. Times are seconds by a clock that never goes back.
package struct FollowMachine: Sendable {
  /// The next step, for one thread. Each but `wait` is answered by `finished`.
  package enum Step: Sendable, Hashable {
    /// Listen to live data; what is heard carries this number.
    case listen(Int)
    /// Push what waits, if anything does.
    case push
    /// Read from the backend what has changed, or everything.
    case read
    /// Wait for so many seconds.
    case wait(Double)
  }

  /// The outcome of a step.
  package enum Outcome: Sendable, Equatable {
    case done
    /// The application wants no live data.
    case switchedOff
    /// Writes are left that were refused and will be sent again.
    case refused(StoreError)
    case failed(StoreError)
  }

  /// Something that happens while a step is taken or waited for.
  package enum Signal: Sendable, Equatable {
    /// Something was saved here.
    case saved
    /// Something may have been missed, or has gone here: it has to be read again.
    case missed
    /// The network is back, or a user has logged in or out.
    case revived
    /// The application wants live data again.
    case liveWanted
    /// From now on live data tells everything; again, after a connection had broken.
    case connected(Int)
    case disconnected(Int)
    /// Nothing is told any more: refused, for an error, or logged out.
    case ended(Int, StoreError?)
  }

  private enum Link { case none, connecting, ready, down }

  /// Seconds after a save: what is saved with it goes along.
  static let gathering = 0.05
  /// Seconds until the queue is looked at anyway: another process may have saved.
  package static let rest = 1.0
  /// Seconds that the first read waits for live data, so that one read is enough.
  static let patience = 3.0
  /// Seconds between two attempts after failures: of everything, and to listen where reading works.
  static let pauses = (first: 1.0, longest: 60.0, longestOfListening: 300.0)
  /// Seconds between two reads where live data reports changes: it does not report every right that was lost, such as that of
  /// a user who has left a group.
  static let liveInterval = 900.0

  private let interval: Double
  private let rest: Double
  private var link = Link.none
  private var number = 0
  private var brokenAt = 0.0
  /// When to listen next; nil: not at all.
  private var listenAt: Double?
  private var listenFailures = 0
  private var patientUntil = 0.0
  private var mustRead = true
  private var isCatchingUp = false
  private var lastRead: Double?
  /// When the read that is under way began, and the one that `lastRead` ended.
  private var (readBegan, lastReadBegan) = (0.0, 0.0)
  /// When the queue is looked at next.
  private var pushAt = 0.0
  private var pushFailures = 0
  private var pushError: StoreError?
  /// Nothing is tried before this time: the backend does not answer, or no user is logged in.
  private var resumeAt = 0.0
  private var failures = 0
  private var error: StoreError?
  private(set) var isClosed = false

  /// `usesLive`: whether live data is wanted, and the backend has it. `rest`: seconds until the queue is looked at although nothing
  /// was saved here.
  package init(interval: Double, usesLive: Bool, rest: Double = Self.rest) {
    (self.interval, self.rest) = (interval, rest)
    listenAt = usesLive ? 0 : nil
  }

  package var isLive: Bool { link == .ready }

  package var state: FollowState {
    if isClosed { return .closed }
    if let error { return error.isOffline ? .offline(error) : .behind(error) }
    guard lastRead != nil else { return .starting }
    if link == .down, lastReadBegan <= brokenAt { return .offline(Self.broken) }
    if mustRead || isCatchingUp { return .behind(nil) }
    return pushError.map { .behind($0) } ?? .current
  }

  private static let broken = StoreError(.network, "The connection for live data was lost.")

  // MARK: What to do

  package mutating func next(at now: Double) -> Step {
    if resumeAt > now { return .wait(resumeAt - now) }
    if link == .none, let listenAt, listenAt <= now {
      link = .connecting
      number += 1
      patientUntil = now + Self.patience
      return .listen(number)
    }
    if pushAt <= now {
      pushAt = .infinity
      return .push
    }
    if readAt <= now {
      isCatchingUp = mustRead
      mustRead = false
      readBegan = now
      return .read
    }
    let listenAt = link == .none ? self.listenAt : nil
    return .wait(max(0, min(pushAt, readAt, listenAt ?? .infinity) - now))
  }

  /// When to read next.
  private var readAt: Double {
    if mustRead { return link == .connecting ? patientUntil : 0 }
    let pause = link == .ready ? max(interval, Self.liveInterval) : interval
    return (lastRead ?? 0) + pause
  }

  // MARK: What came of it

  /// `share`: by which pauses are drawn, from 0 to 1.
  package mutating func finished(
    _ step: Step, _ outcome: Outcome, at now: Double, share: Double
  ) {
    switch step {
    case .listen: listened(outcome, at: now, share: share)
    case .push: pushed(outcome, at: now, share: share)
    case .read: wasRead(outcome, at: now, share: share)
    case .wait: break
    }
  }

  private mutating func listened(_ outcome: Outcome, at now: Double, share: Double) {
    if outcome == .done { return }
    link = .none
    listenAt = nil
    guard case .failed(let error) = outcome, error.kind != .unsupported else { return }
    if error.concernsEverything {
      listenAt = now
      fail(error, at: now, share: share)
    } else {
      listenLater(at: now, share: share)
    }
  }

  private mutating func listenLater(at now: Double, share: Double) {
    listenAt =
      now + Self.pause(after: listenFailures, longest: Self.pauses.longestOfListening, share: share)
    listenFailures += 1
  }

  private mutating func pushed(_ outcome: Outcome, at now: Double, share: Double) {
    // A save meanwhile may have set an earlier time.
    pushAt = min(pushAt, now + rest)
    switch outcome {
    case .done, .switchedOff: (pushError, pushFailures) = (nil, 0)
    case .refused(let error):
      pushError = error
      pushAt = now + Self.pause(after: pushFailures, longest: Self.pauses.longest, share: share)
      pushFailures += 1
    case .failed(let error): fail(error, at: now, share: share)
    }
  }

  private mutating func wasRead(_ outcome: Outcome, at now: Double, share: Double) {
    let wasCatchingUp = isCatchingUp
    isCatchingUp = false
    guard case .failed(let error) = outcome else {
      (lastRead, lastReadBegan) = (now, readBegan)
      (self.error, failures) = (nil, 0)
      return
    }
    mustRead = mustRead || wasCatchingUp || error.kind != .cancelled
    fail(error, at: now, share: share)
  }

  private mutating func fail(_ error: StoreError, at now: Double, share: Double) {
    // Stopped by a login or a logout, which it waits for when it begins again.
    guard error.kind != .cancelled else { return }
    self.error = error
    mustRead = true
    let pause = Self.pause(after: failures, longest: Self.pauses.longest, share: share)
    resumeAt = now + max(pause, min(error.answer?.retryAfter ?? 0, interval))
    failures += 1
  }

  /// At least half of the full length: a probe costs the backend more than us.
  private static func pause(after failures: Int, longest: Double, share: Double) -> Double {
    Retry.pause(
      after: failures, first: pauses.first, longest: longest, share: (1 + share) / 2)
  }

  // MARK: What happened

  package mutating func receive(_ signal: Signal, at now: Double) {
    switch signal {
    case .saved: pushAt = min(pushAt, now + Self.gathering)
    case .missed: mustRead = true
    case .revived:
      mustRead = true
      startAnew()
    case .liveWanted where link == .none:
      listenAt = 0
      listenFailures = 0
    case .connected(number):
      link = .ready
      listenFailures = 0
      mustRead = true
      if error?.isOffline == true { startAnew() }
    case .disconnected(number):
      link = .down
      brokenAt = now
    case .ended(number, let error):
      link = .none
      mustRead = true
      if error == nil { listenAt = now } else { listenLater(at: now, share: 1) }
    case .liveWanted, .connected, .disconnected, .ended: break
    }
  }

  /// Whether a save changes nothing.
  func pushesSoon(at now: Double) -> Bool { pushAt <= now + Self.gathering }

  /// There is reason to try at once what has failed.
  private mutating func startAnew() {
    (failures, pushFailures, resumeAt, pushAt) = (0, 0, 0, 0)
  }

  package mutating func close() { isClosed = true }
}

extension StoreError {
  /// Whether reading and pushing would fail for the same reason as listening did.
  fileprivate var concernsEverything: Bool {
    isOffline || failureClass == .sessionOver || kind == .cancelled || kind == .certificate
  }
}
