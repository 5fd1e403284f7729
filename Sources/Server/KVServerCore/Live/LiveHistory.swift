package import KVBase

/// A position in the stream of messages, as clients send it back: `t` in steps of 100 ns, and the epoch of the
/// data, which travels as the region.
struct LivePosition: Sendable, Equatable {
  var time: Int64
  /// The region that the client named; nil: none.
  var region: Int64?
}

/// The last messages of an app, bounded by number and by bytes, so that a client that was away can be sent what it
/// missed, or learns that this is not known any more.
package struct LiveHistory: Sendable {
  package static let maxMessages = 10_000
  private static let maxBytes = 16 << 20

  private var messages: [LiveMessage] = []
  private var first = 0
  private var bytes = 0
  /// The latest time given out; times only grow, whatever the wall clock does.
  package private(set) var last: Int64
  /// Everything after this is known.
  package private(set) var floor: Int64
  /// Whether several servers have this history: then times come with the messages, and `advance` says how far they are
  /// complete. None is given out here.
  private let isShared: Bool

  /// `since`: everything after this will be added before anything else; nil: nothing was before.
  package init(at now: Timestamp, since floor: Int64? = nil) {
    last = max(Self.ticks(now), floor ?? .min)
    self.floor = floor ?? last
    isShared = false
  }

  /// A history that several servers have. Everything after `floor` will be added before anything else.
  package init(sharedSince floor: Int64) {
    (last, self.floor, isShared) = (floor, floor, true)
  }

  /// Says that no message up to a time will be added any more.
  package mutating func advance(to time: Int64) { last = max(last, time) }

  /// A time after which everything is delivered.
  package mutating func current(_ now: Timestamp) -> Int64 {
    if !isShared { last = max(last, Self.ticks(now)) }
    return last
  }

  /// Reserves times for some messages, one after the other; returns the first.
  package mutating func reserve(_ count: Int, _ now: Timestamp) -> Int64 {
    let first = max(last &+ 1, Self.ticks(now))
    last = first &+ Int64(max(0, count - 1))
    return first
  }

  /// Adds a message that is later than all others.
  package mutating func add(_ message: LiveMessage) {
    last = max(last, message.time)
    messages.append(message)
    bytes &+= message.payload.count
    while messages.count - first > Self.maxMessages || bytes > Self.maxBytes { forgetFirst() }
  }

  /// Forgets everything: what happened at `time` is too much to remember.
  package mutating func cut(at time: Int64) {
    messages = []
    (first, bytes) = (0, 0)
    floor = time
  }

  /// Another server may be ahead of this one by so many ticks.
  private static let maxLag: Int64 = 60 * 10_000_000

  /// Whether all that came after `time` is still known, or will be.
  package func reaches(back time: Int64) -> Bool {
    time >= floor && time <= (isShared ? last &+ Self.maxLag : last)
  }

  /// The messages after `time`, oldest first.
  package func after(_ time: Int64) -> ArraySlice<LiveMessage> {
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
