internal import KVBase

/// Brings the changes of one app to the long polls that wait for them. Safe from any thread.
///
/// A poll for which there is nothing yet is kept as a value and an open reply; it costs no thread.
final class LiveBroker: Sendable {
  /// How long a poll is held.
  static let holdSeconds: Int64 = 280
  /// The number of messages in one answer; the next poll goes on from there.
  private static let maxMessages = 100
  /// How many polls are answered before others get the lock, and by the thread that has written.
  private static let maxPollsAtOnce = 32
  /// Entities and messages above this are not sent: the protocol's rule.
  static let maxBytes = 32 << 10

  /// A poll, understood and permitted.
  struct Poll: Sendable {
    var user: String
    var group: String
    /// The token of the session that it belongs to.
    var token: String
    /// When that session ends, in milliseconds since 1970; nil: not by itself.
    var expires: Int64?
    /// The position to go on from; nil: the first poll, which only asks for one.
    var since: LivePosition?
    /// The collections it names; nil: all of the group's.
    var collections: Set<RecordID>?
    /// The device that polls; nil: not known, or of no interest.
    var device: String?
  }

  private struct Waiting {
    var poll: Poll
    var since: Int64
    /// The end of its wait, on the monotonic clock.
    var until: Int64
    var reply: any Reply
  }

  private struct State {
    var members: LiveMembers
    var history: LiveHistory
    /// The first times of announcements whose transactions have not ended.
    var reserved: Set<Int64> = []
    /// The floor that the journal was last asked to forget up to.
    var forgotten: Int64
    var waiting: [Int: Waiting] = [:]
    /// The numbers of the waiting polls, by channel group.
    var waitingOf: [String: Set<Int>] = [:]
    var count = 0
    var isClosed = false

    /// The time up to which no message is added any more.
    var completeUntil: Int64 { reserved.min().map { $0 &- 1 } ?? history.last }

    /// A position from which everything that follows is delivered.
    mutating func current(_ now: Timestamp) -> Int64 {
      reserved.isEmpty ? history.current(now) : completeUntil
    }

    mutating func removePoll(_ number: Int) -> Waiting? {
      guard let removed = waiting.removeValue(forKey: number) else { return nil }
      waitingOf[removed.poll.group]?.remove(number)
      if waitingOf[removed.poll.group]?.isEmpty == true { waitingOf[removed.poll.group] = nil }
      return removed
    }
  }

  private typealias Sending = (reply: any Reply, response: Response)

  let wire: LiveWire
  private let state: Monitor<State>
  let now: @Sendable () -> Timestamp
  /// Has another thread `deliver` a collection soon; false: there is none.
  private let deliverLater: @Sendable (String) -> Bool

  /// `history`: what is known from before; nil: nothing. `isSilent`: collections without live data.
  init(
    _ wire: LiveWire, _ history: LiveHistory? = nil,
    now: @escaping @Sendable () -> Timestamp = { Timestamp.now() },
    isSilent: @escaping @Sendable (String) -> Bool = { _ in false },
    deliverLater: @escaping @Sendable (String) -> Bool = { _ in false }
  ) {
    self.wire = wire
    self.now = now
    self.deliverLater = deliverLater
    let history = history ?? LiveHistory(at: now())
    state = Monitor(
      State(
        members: LiveMembers(isSilent: isSilent), history: history, forgotten: history.floor))
  }

  /// Reads or changes who listens.
  func members<R>(_ body: (inout LiveMembers) -> R) -> R { state.withLock { body(&$0.members) } }

  /// How many polls wait.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  // MARK: Polls

  /// Answers the poll now, or when there is a message for it.
  func poll(_ poll: Poll, at ticks: Int64 = monotonicNanoseconds(), reply: any Reply) {
    let response = state.withLock { state -> Response? in
      guard Self.isRegistered(poll, state) else { return wire.refusal(ofGroup: poll.group) }
      guard let since = poll.since else {
        return wire.answer([], to: poll, next: state.current(now()))
      }
      let isKnown =
        (since.region ?? wire.region) == wire.region && state.history.reaches(back: since.time)
      if !isKnown {
        return wire.answer(
          [], to: poll, next: state.current(now()), isIncomplete: true)
      }
      if let response = answer(poll, since: since.time, state: state) { return response }
      if state.isClosed { return wire.answer([], to: poll, next: since.time) }
      state.count += 1
      state.waiting[state.count] = Waiting(
        poll: poll, since: since.time, until: ticks &+ Self.holdSeconds &* 1_000_000_000,
        reply: reply)
      state.waitingOf[poll.group, default: []].insert(state.count)
      return nil
    }
    if let response { reply.send(response) }
  }

  /// A device that is registered no more would wait for messages of collections that it has subscribed to, in vain.
  private static func isRegistered(_ poll: Poll, _ state: State) -> Bool {
    guard let device = poll.device else { return state.members.isRegistered(poll.group) }
    return state.members.isRegistered(poll.group, device: device)
  }

  /// The answer with the messages for a poll; nil: there are none.
  private func answer(_ poll: Poll, since: Int64, state: State) -> Response? {
    var found: [LiveMessage] = []
    for message in state.history.after(since) where found.count < Self.maxMessages {
      if poll.collections?.contains(RecordID(message.collection)) != false,
        state.members.isSubscribed(poll.group, to: message.collection),
        message.about.audience.contains(poll.user)
      {
        found.append(message)
      }
    }
    guard let last = found.last else { return nil }
    let isFull = found.count == Self.maxMessages
    return wire.answer(found, to: poll, next: isFull ? last.time : state.completeUntil)
  }

  // MARK: Changes

  /// Reserves times for what a transaction is about to commit: to be called inside of it, as its last step, so that
  /// times and commits have one order. `publish` or `withdraw` must follow.
  func prepare(
    _ content: LiveAnnouncement.Content, for topic: String, of app: Int64
  ) -> LiveAnnouncement {
    state.withLock { state in
      let time = state.history.reserve(content.count, now())
      state.reserved.insert(time)
      return LiveAnnouncement(
        app: app, topic: topic, content: content, time: time,
        isJournaled: !state.members.groups(subscribedTo: topic).isEmpty)
    }
  }

  /// The transaction has not committed.
  func withdraw(_ announcement: LiveAnnouncement) {
    state.withLock { _ = $0.reserved.remove(announcement.time) }
  }

  /// Publishes what was committed. Calls must come in the order of the commits. The writer waits for the
  /// answers to a few polls at the most.
  func publish(_ announcement: LiveAnnouncement) {
    let groups = state.withLock { state -> Set<String> in
      state.reserved.remove(announcement.time)
      let groups = state.members.groups(subscribedTo: announcement.topic)
      guard announcement.isJournaled || !groups.isEmpty else { return [] }
      if announcement.isCut {
        state.history.cut(at: announcement.time)
      } else {
        for message in announcement.messages { state.history.add(message) }
      }
      return groups
    }
    announce(announcement.topic, to: groups)
  }

  /// Whether a collection or a stream has subscribers.
  func hasListeners(of topic: String) -> Bool {
    state.withLock { !$0.members.groups(subscribedTo: topic).isEmpty }
  }

  /// A time that no message has or will have.
  func moment() -> Int64 { state.withLock { $0.history.reserve(1, now()) } }

  /// Up to when messages were forgotten, if that has changed since the last call.
  func popForgottenFloor() -> Int64? {
    state.withLock { state in
      guard state.history.floor > state.forgotten else { return nil }
      state.forgotten = state.history.floor
      return state.forgotten
    }
  }

  /// Answers the polls of some groups, or leaves that to another thread if they are many.
  private func announce(_ topic: String, to groups: Set<String>) {
    if let few = state.withLock({ Self.polls(of: groups, $0, limit: Self.maxPollsAtOnce) }) {
      deliver(few)
    } else if !deliverLater(topic) {
      deliver(topic)
    }
  }

  /// Answers the polls of a collection that `deliverLater` has left to the caller. What was delivered meanwhile is
  /// not delivered again.
  func deliver(_ topic: String) {
    let polls = state.withLock { state in
      Self.polls(of: state.members.groups(subscribedTo: topic), state, limit: .max)
    }
    deliver(polls ?? [])
  }

  /// The polls that wait; nil: more than so many.
  private static func polls(of groups: Set<String>, _ state: State, limit: Int) -> [Int]? {
    var polls: [Int] = []
    for group in groups {
      polls += state.waitingOf[group] ?? []
      if polls.count > limit { return nil }
    }
    return polls
  }

  private func deliver(_ polls: [Int]) {
    for start in stride(from: 0, to: polls.count, by: Self.maxPollsAtOnce) {
      let some = polls[start..<min(start + Self.maxPollsAtOnce, polls.count)]
      send { state in some.compactMap { response(for: $0, &state) } }
    }
  }

  /// The answer to a waiting poll, if there is a message for it.
  private func response(for number: Int, _ state: inout State) -> Sending? {
    guard let waiting = state.waiting[number] else { return nil }
    let response =
      state.history.reaches(back: waiting.since)
      ? answer(waiting.poll, since: waiting.since, state: state)
      : wire.answer([], to: waiting.poll, next: state.completeUntil, isIncomplete: true)
    guard let response, let removed = state.removePoll(number) else {
      // Of what came until now there is nothing for it.
      let completeUntil = state.completeUntil
      state.waiting[number]?.since = max(waiting.since, completeUntil)
      return nil
    }
    return (removed.reply, response)
  }

  // MARK: Changes that a shared store tells of

  /// Forgets everything up to a time unless it is an earlier one than the last; whether it has.
  func cut(at floor: Int64) -> Bool {
    state.withLock { state in
      guard floor > state.history.last else { return false }
      state.history.cut(at: floor)
      state.history.advance(to: floor)
      return true
    }
  }

  /// Adds messages that are new; gives what they are about.
  func add(_ messages: [LiveMessage], until position: Int64) -> Set<RecordID> {
    state.withLock { state in
      var topics: Set<RecordID> = []
      for message in messages where message.time > state.history.last {
        state.history.add(message)
        topics.insert(RecordID(message.collection))
      }
      state.history.advance(to: position)
      return topics
    }
  }

  func announce(_ topic: String) {
    announce(topic, to: state.withLock { $0.members.groups(subscribedTo: topic) })
  }

  func deliverToAll() { deliver(state.withLock { Array($0.waiting.keys) }) }

  /// The tokens of the sessions in which polls of a user wait.
  func waitingSessions(of user: String) -> Set<String> {
    state.withLock { state in
      let numbers = state.waitingOf[wire.group(of: user)] ?? []
      return Set(numbers.compactMap { state.waiting[$0]?.poll.token })
    }
  }

  /// Refuses the polls of a group for which `isOver` holds.
  func refuse(group: String, where isOver: (Poll) -> Bool) {
    end(where: { $0.poll.group == group && isOver($0.poll) }) { waiting, _ in
      wire.refusal(ofGroup: waiting.poll.group)
    }
  }

  // MARK: Endings

  /// Answers polls that have waited long enough, and drops those whose client has gone.
  func tend(at ticks: Int64 = monotonicNanoseconds()) {
    let now = now()
    end(where: { waiting in
      waiting.until <= ticks || waiting.reply.isAbandoned
        || waiting.poll.expires.map { $0 <= now.milliseconds } == true
    }) { waiting, state in
      wire.answer([], to: waiting.poll, next: max(waiting.since, state.current(now)))
    }
  }

  /// Refuses the polls of a device that has gone.
  func refuse(group: String, device: String) {
    end(where: { $0.poll.group == group && $0.poll.device?.hasSameBytes(as: device) == true }) {
      waiting, _ in
      wire.refusal(ofGroup: waiting.poll.group)
    }
  }

  /// Refuses the polls of a group that has gone, or of sessions that have ended.
  func refuse(group: String, butOf token: String? = nil) {
    end(where: { $0.poll.group == group && $0.poll.token != token }) { waiting, _ in
      wire.refusal(ofGroup: waiting.poll.group)
    }
  }

  /// Refuses the polls of a group that name a channel to which it is not subscribed any more.
  func refuse(group: String, naming topic: String, channel: String) {
    end(where: { $0.poll.group == group && $0.poll.collections?.contains(RecordID(topic)) == true })
    { _, _ in
      wire.refusal(of: [channel])
    }
  }

  /// Refuses the polls of a session that has ended.
  func refuse(session token: String) {
    end(where: { $0.poll.token == token }) { waiting, _ in
      wire.refusal(ofGroup: waiting.poll.group)
    }
  }

  /// The same for the session of a group whose name this is: see `SessionSummary`.
  func refuse(sessionNamed name: String, group: String) {
    end(where: {
      $0.poll.group == group && SessionToken.hash($0.poll.token).hasSameBytes(as: name)
    }) { waiting, _ in
      wire.refusal(ofGroup: waiting.poll.group)
    }
  }

  /// Answers all polls with nothing; from now on none waits.
  func close() {
    state.withLock { $0.isClosed = true }
    end(where: { _ in true }) { waiting, _ in
      wire.answer([], to: waiting.poll, next: waiting.since)
    }
  }

  private func end(
    where isOver: (Waiting) -> Bool, _ response: (Waiting, inout State) -> Response
  ) {
    send { state in
      state.waiting.filter { isOver($0.value) }.keys.compactMap { number -> Sending? in
        guard let waiting = state.removePoll(number) else { return nil }
        return (waiting.reply, response(waiting, &state))
      }
    }
  }

  /// Sends what `body` says, outside the lock.
  private func send(_ body: (inout State) -> [Sending]) {
    for (reply, response) in state.withLock(body) { reply.send(response) }
  }
}
