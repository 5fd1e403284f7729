internal import KVBase

/// What the synchronisation of several collections does next, and what it reports: a value without a clock or a thread,
/// so that tests can play any schedule.
///
///     stopped ──start──▶ subscribing ──all are subscribed, or refused──▶ reading ──each was read, or has failed──▶ ready
///        ▲                                                                 ▲                                       │
///        ╰──────────────────── stop, from anywhere                         ╰── reconnected, missed, polled, online ─╯
///
/// Subscriptions come before reads, so that nothing falls in between. Collections are read one after the other, in the order
/// given. One collection does not delay another; everything waits only while the backend does not answer.
/// Times are seconds by a clock that never goes back.
package struct SyncMachine: Sendable {
  /// The next step, for one thread. Each but `wait` is answered by `finished`.
  package enum Step: Sendable, Hashable {
    /// Subscribe to a collection; what is heard carries this number.
    case listen(Int, number: Int)
    /// Read what has changed in a collection, or all of it.
    case read(Int)
    /// Wait for so many seconds.
    case wait(Double)
  }

  /// The outcome of a step.
  package enum Outcome: Sendable, Equatable {
    /// Subscribing has begun.
    case begun
    /// There are no subscriptions, or the application wants none.
    case switchedOff
    case synced(SyncedCounts)
    case failed(StoreError)
  }

  /// Something that happens while a step is taken or waited for.
  package enum Signal: Sendable, Equatable {
    case start(isOnline: Bool?)
    case stop
    /// There is one more collection.
    case added
    case network(isOnline: Bool)
    /// A user has logged in or out.
    case revived
    /// The application wants live data again.
    case liveWanted
    /// Something may have been missed in a collection, or has gone here.
    case missed(Int)
    /// From now on a subscription reports everything; again, after the connection had broken.
    case connected(Int, number: Int)
    case disconnected(Int, number: Int)
    /// Nothing is reported any more: refused, for an error, or logged out.
    case ended(Int, number: Int, StoreError?)
  }

  /// What an application is told, in this order.
  package enum Report: Sendable, Equatable {
    case networkStatus(isActive: Bool)
    case outboxStatus
    case subscriptionsEstablished
    case queriesStarted([Int])
    case modelSynced(Int, SyncedCounts)
    case modelFailed(Int, StoreError)
    case queriesReady
    case started
    case ready
  }

  fileprivate enum Link { case none, connecting, ready, down }

  /// One collection.
  fileprivate struct Part {
    var link = Link.none
    var number = 0
    /// When to subscribe next; nil: not at all.
    var listenAt: Double?
    var listenFailures = 0
    var mustRead = true
    /// Not read before: it has failed.
    var readAt = 0.0
    var failures = 0
    var lastRead: Double?
    var isSynced = false
    var error: StoreError?
  }

  /// Seconds that reading waits for subscriptions; each that is acknowledged gives the others as much again.
  static let patience = 15.0
  /// Seconds that a read waits for what makes others necessary as well, once all were read.
  static let gathering = 0.05
  static let pauses = (first: 1.0, longest: 60.0, longestOfListening: 300.0)
  /// Seconds between two reads of a collection with a subscription: it does not report every right that was lost, such as that
  /// of a user who has left a group.
  static let liveInterval = 900.0

  private let interval: Double
  private let usesLive: Bool
  private var parts: [Part]
  private var patientUntil = 0.0
  private var gatherUntil = 0.0
  /// What is still to be read of those that are read together.
  private var round: [Int] = []
  private var resumeAt = 0.0
  private var failures = 0
  private var isEstablished = false
  private var isOnline = false
  private var reports: [Report] = []
  package private(set) var isRunning = false
  /// Whether each collection was read since the start, or has failed.
  package private(set) var isReady = false

  /// `count`: of collections. `interval`: seconds between two reads of one without a subscription.
  package init(_ count: Int, interval: Double, usesLive: Bool) {
    self.interval = interval
    self.usesLive = usesLive
    parts = Array(repeating: Part(), count: count)
  }

  /// Gives the reports that are due, and forgets them.
  package mutating func takeReports() -> [Report] {
    defer { reports = [] }
    return reports
  }

  package func isSynced(_ index: Int) -> Bool { parts[index].isSynced }
  package func isLive(_ index: Int) -> Bool { parts[index].link == .ready }
  package func error(of index: Int) -> StoreError? { parts[index].error }

  // MARK: What to do

  package mutating func next(at now: Double) -> Step {
    guard isRunning else { return .wait(.infinity) }
    if resumeAt > now { return .wait(resumeAt - now) }
    if let index = parts.firstIndex(where: { $0.wantsToListen(at: now) }) {
      parts[index].link = .connecting
      parts[index].number += 1
      // One that was refused is tried again and again.
      if parts[index].listenFailures == 0 { patientUntil = now + Self.patience }
      return .listen(index, number: parts[index].number)
    }
    let isConnecting = parts.contains { $0.link == .connecting }
    if isConnecting, !isReady, now < patientUntil { return .wait(patientUntil - now) }
    if !isConnecting, !isEstablished, !parts.contains(where: { $0.link == .down }) {
      isEstablished = true
      reports.append(.subscriptionsEstablished)
    }
    beginRound(at: now)
    if let index = round.first ?? parts.firstIndex(where: { $0.isPolled(at: now, interval) }) {
      parts[index].mustRead = false
      return .read(index)
    }
    return .wait(max(0, (times.min() ?? .infinity) - now))
  }

  private mutating func beginRound(at now: Double) {
    guard round.isEmpty, gatherUntil <= now else { return }
    round = parts.indices.filter { parts[$0].mustRead && parts[$0].readAt <= now }
    if !round.isEmpty { reports.append(.queriesStarted(round)) }
  }

  /// When there is something to do again.
  private var times: [Double] {
    parts.flatMap { part in
      [
        part.link == .none ? part.listenAt : nil,
        part.mustRead ? max(part.readAt, gatherUntil) : nil,
        part.lastRead.map { max($0 + part.pause(interval), part.readAt) },
      ].compactMap { $0 }
    }
  }

  // MARK: What came of it

  /// `share`: by which pauses are drawn, from 0 to 1.
  package mutating func finished(
    _ step: Step, _ outcome: Outcome, at now: Double, share: Double
  ) {
    guard isRunning else { return }
    switch (step, outcome) {
    case (.listen(let index, _), .switchedOff):
      (parts[index].link, parts[index].listenAt) = (.none, nil)
    case (.listen(let index, _), .failed(let error)):
      parts[index].link = .none
      listenLater(index, error, at: now, share: share)
    case (.read(let index), .synced(let counts)):
      failures = 0
      setOnline(true, at: now)
      parts[index].wasRead(at: now)
      reports.append(.modelSynced(index, counts))
      settle(index)
    case (.read(let index), .failed(let error)):
      parts[index].mustRead = true
      readFailed(index, error, at: now, share: share)
    default: break
    }
  }

  private mutating func listenLater(
    _ index: Int, _ error: StoreError, at now: Double, share: Double
  ) {
    switch error.kind {
    case .unsupported: parts[index].listenAt = nil
    case .cancelled: parts[index].listenAt = now
    default:
      let pause = Self.pause(
        after: parts[index].listenFailures, longest: Self.pauses.longestOfListening, share: share)
      parts[index].listenAt = now + pause
      parts[index].listenFailures += 1
    }
  }

  private mutating func readFailed(
    _ index: Int, _ error: StoreError, at now: Double, share: Double
  ) {
    // Stopped by a login or a logout, which it waits for when it begins again.
    guard error.kind != .cancelled else { return }
    parts[index].error = error
    if error.isOffline {
      setOnline(false, at: now)
      resumeAt = now + Self.pause(after: failures, longest: Self.pauses.longest, share: share)
      failures += 1
      return
    }
    let pause = Self.pause(
      after: parts[index].failures, longest: Self.pauses.longest, share: share)
    parts[index].readAt = now + max(pause, min(error.answer?.retryAfter ?? 0, interval))
    parts[index].failures += 1
    reports.append(.modelFailed(index, error))
    settle(index)
  }

  /// A collection was read, or has failed: those that are read together are complete with the last one.
  private mutating func settle(_ index: Int) {
    guard round.contains(index) else { return }
    round.removeAll { $0 == index }
    guard round.isEmpty else { return }
    reports.append(.queriesReady)
    guard !isReady else { return }
    isReady = true
    reports += [.started, .ready]
  }

  /// At least half of the full length: a probe costs the backend more than us.
  private static func pause(after failures: Int, longest: Double, share: Double) -> Double {
    Retry.pause(after: failures, first: pauses.first, longest: longest, share: (1 + share) / 2)
  }

  // MARK: What happened

  package mutating func receive(_ signal: Signal, at now: Double) {
    switch signal {
    case .start(let isOnline): start(isOnline, at: now)
    case .stop: (isRunning, reports) = (false, [])
    case .added: add(at: now)
    case .network(let isOnline): setOnline(isOnline, at: now)
    case .revived: revive(at: now)
    case .liveWanted: for index in parts.indices { parts[index].listenSoon(at: now) }
    case .missed(let index): mustRead(index, at: now)
    case .connected(let index, let number) where number == parts[index].number:
      parts[index].link = .ready
      parts[index].listenFailures = 0
      patientUntil = now + Self.patience
      setOnline(true, at: now)
      mustRead(index, at: now)
    case .disconnected(let index, let number) where number == parts[index].number:
      parts[index].link = .down
      isEstablished = false
    case .ended(let index, let number, let error) where number == parts[index].number:
      parts[index].link = .none
      isEstablished = isEstablished && error != nil
      if let error {
        listenLater(index, error, at: now, share: 1)
      } else {
        parts[index].listenAt = now
      }
      mustRead(index, at: now)
    case .connected, .disconnected, .ended: break
    }
  }

  /// Once all were read, others may follow in the same moment, and are read with it.
  private mutating func mustRead(_ index: Int, at now: Double) {
    parts[index].mustRead = true
    if isReady, round.isEmpty { gatherUntil = now + Self.gathering }
  }

  private mutating func start(_ isOnline: Bool?, at now: Double) {
    guard !isRunning else { return }
    let numbers = parts.map(\.number)
    parts = numbers.map { number in
      var part = Part()
      // What an earlier subscription still says is not taken for this one's.
      part.number = number + 1
      part.listenAt = usesLive ? now : nil
      return part
    }
    (isRunning, isReady, isEstablished, round) = (true, false, false, [])
    (resumeAt, failures, patientUntil, gatherUntil) = (0, 0, 0, 0)
    self.isOnline = false
    reports = [.networkStatus(isActive: false), .outboxStatus]
    if isOnline == true { setOnline(true, at: now) }
  }

  private mutating func add(at now: Double) {
    var part = Part()
    part.listenAt = usesLive ? now : nil
    parts.append(part)
    isEstablished = false
    mustRead(parts.count - 1, at: now)
  }

  private mutating func setOnline(_ isOnline: Bool, at now: Double) {
    guard isRunning, isOnline != self.isOnline else { return }
    self.isOnline = isOnline
    reports.append(.networkStatus(isActive: isOnline))
    // The first answer of all says nothing about what was missed.
    if isOnline, isReady { revive(at: now) } else if isOnline { resumeAt = 0 }
  }

  /// There is reason to try at once what has failed, and to look at everything again.
  private mutating func revive(at now: Double) {
    guard isRunning else { return }
    (failures, resumeAt) = (0, 0)
    for index in parts.indices {
      (parts[index].failures, parts[index].readAt) = (0, 0)
      if parts[index].listenAt != nil { parts[index].listenSoon(at: now) }
      mustRead(index, at: now)
    }
  }
}

extension SyncMachine.Part {
  fileprivate func wantsToListen(at now: Double) -> Bool {
    link == .none && listenAt.map { $0 <= now } ?? false
  }

  /// Whether it is time to read again, because no subscription reports changes, or not all of them.
  fileprivate func isPolled(at now: Double, _ interval: Double) -> Bool {
    guard let lastRead else { return false }
    return max(lastRead + pause(interval), readAt) <= now
  }

  /// Seconds between two reads.
  fileprivate func pause(_ interval: Double) -> Double {
    link == .ready ? max(interval, SyncMachine.liveInterval) : interval
  }

  fileprivate mutating func listenSoon(at now: Double) {
    (listenAt, listenFailures) = (now, 0)
  }

  fileprivate mutating func wasRead(at now: Double) {
    (lastRead, isSynced, failures, readAt, error) = (now, true, 0, 0, nil)
  }
}

/// What reading one collection has changed here.
package struct SyncedCounts: Sendable, Equatable {
  /// Whether only what has changed was read.
  package var isDelta = false
  package var added = 0
  package var updated = 0
  package var deleted = 0
  /// Whether all that the backend has of it is here: no record was left out, because it could not be read or because of
  /// `isCapped`.
  package var isComplete = true
  /// Whether reading ended at the option `maxRecords`.
  package var isCapped = false

  package init() {}
}
