internal import KVBase

/// A place in the stream of messages, as clients hand it back: `t` in steps of 100 ns, and the epoch of the
/// data, which travels as the region.
struct LivePlace: Sendable, Equatable {
  var time: Int64
  /// nil: the client did not say.
  var region: Int64?
}

/// One message, without what differs from receiver to receiver.
struct LiveMessage: Sendable {
  enum Source: Sendable {
    /// The server: `"create"`, `"update"` or `"delete"`.
    case change(String)
    /// A user, on a stream.
    case user(String)
  }

  let time: Int64
  /// Or the topic of a stream.
  let collection: String
  let audience: Audience
  /// On the channels of notices, `x-`, which only libkvstore listens to.
  let isNotice: Bool
  let from: Source
  let payload: [UInt8]
}

/// The last messages of an app, bounded by number and by bytes, so that a client that was away can be told what it
/// missed, or that it cannot be told.
struct LiveHistory: Sendable {
  static let mostMessages = 10_000
  private static let mostBytes = 16 << 20

  private var messages: [LiveMessage] = []
  private var first = 0
  private var bytes = 0
  /// The latest time given out; times only grow, whatever the wall clock does.
  private(set) var last: Int64
  /// Everything after this is known.
  private var floor: Int64

  init(at now: Timestamp) {
    last = Self.ticks(now)
    floor = last
  }

  /// A time for somebody who wants to know everything from now on.
  mutating func current(_ now: Timestamp) -> Int64 {
    last = max(last, Self.ticks(now))
    return last
  }

  /// A time of its own for a message.
  mutating func next(_ now: Timestamp) -> Int64 {
    last = max(last &+ 1, Self.ticks(now))
    return last
  }

  mutating func add(_ message: LiveMessage) {
    messages.append(message)
    bytes &+= message.payload.count
    while messages.count - first > Self.mostMessages || bytes > Self.mostBytes { forgetFirst() }
  }

  /// Forgets everything: what happens now is too much to remember.
  mutating func cut(_ now: Timestamp) {
    messages = []
    (first, bytes) = (0, 0)
    floor = next(now)
  }

  /// Whether all that came after `time` is still known.
  func reaches(back time: Int64) -> Bool { time >= floor && time <= last }

  /// What came after `time`, oldest first.
  func after(_ time: Int64) -> ArraySlice<LiveMessage> {
    var (low, high) = (first, messages.count)
    while low < high {
      let middle = (low + high) / 2
      if messages[middle].time <= time { low = middle + 1 } else { high = middle }
    }
    return messages[low...]
  }

  private mutating func forgetFirst() {
    guard first < messages.count else { return }
    floor = messages[first].time
    bytes &-= messages[first].payload.count
    first += 1
    // Moving the rest is paid for by what was forgotten since the last time.
    if first * 2 > messages.count {
      messages.removeFirst(first)
      first = 0
    }
  }

  private static func ticks(_ time: Timestamp) -> Int64 { time.milliseconds &* 10_000 }
}
