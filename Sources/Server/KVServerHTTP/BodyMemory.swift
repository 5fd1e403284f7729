internal import KVBase
internal import KVServerCore

/// The memory for the bodies of all requests, while they arrive and are worked on. Safe from any thread.
///
/// One user and one address have a part of it each. Large bodies cannot take a share that small ones need, and a body that
/// stands still loses its place to another one that needs it.
final class BodyMemory: Sendable {
  /// A body up to this size is a small one.
  static let smallBytes = 64 << 10
  /// A body of which less than `leastProgress` bytes came in so many nanoseconds stands still.
  static let stallNanoseconds: Int64 = 5_000_000_000
  static let leastProgress = 4 << 10

  struct Parts: Equatable {
    let all: Int
    /// What large bodies may take together.
    let large: Int
    /// What the bodies of one user may take, and those from one address.
    let user: Int
    let address: Int

    init(_ limits: HTTPLimits) {
      all = limits.bodyMemory
      large = all - all / 8
      // One body fits, whatever its owner has sent before.
      user = max(all / 4, min(limits.bodyBytes, all))
      address = max(all / 2, min(2 &* limits.bodyBytes, all))
    }
  }

  private struct Use {
    var all = 0
    var large = 0
    var byUser: [Asker: Int] = [:]
    var byAddress: [Asker: Int] = [:]
    /// The places of bodies that are arriving.
    var arriving: [ObjectIdentifier: BodyPlace] = [:]
    /// The places that were taken away, whose connections are to be cut.
    var lost: [BodyPlace] = []
  }

  let parts: Parts
  private let now: @Sendable () -> Int64
  private let use = Monitor(Use())

  init(_ limits: HTTPLimits, now: @escaping @Sendable () -> Int64 = monotonicNanoseconds) {
    parts = Parts(limits)
    self.now = now
  }

  var reserved: Int { use.withLock { $0.all } }

  /// A place for a body; nil: there is no room for so many bytes. `cut` ends the connection on which it arrives.
  func place(
    of user: Asker, at address: Asker, expecting bytes: Int, cut: @escaping @Sendable () -> Void
  ) -> BodyPlace? {
    let place = BodyPlace(in: self, of: user, at: address, since: now(), cut: cut)
    return change { use in
      guard makeRoom(for: bytes, at: place, &use) else { return nil }
      use.arriving[ObjectIdentifier(place)] = place
      return place
    }
  }

  // MARK: For places

  fileprivate func reserve(_ bytes: Int, for place: BodyPlace) -> Bool {
    change { use in
      guard !place.state.isGone, makeRoom(for: bytes, at: place, &use) else { return false }
      add(bytes, to: place, &use)
      return true
    }
  }

  fileprivate func release(_ bytes: Int, of place: BodyPlace) {
    use.withLock { use in
      guard !place.state.isGone else { return }
      add(-bytes, to: place, &use)
    }
  }

  fileprivate func arrived(_ bytes: Int, at place: BodyPlace) {
    use.withLock { _ in
      place.state.arrived &+= bytes
      guard place.state.arrived &- place.state.marked >= Self.leastProgress else { return }
      place.state.marked = place.state.arrived
      place.state.movedAt = now()
    }
  }

  /// The body is whole, or of no interest any more: it cannot stand still.
  fileprivate func end(_ place: BodyPlace) {
    use.withLock { _ = $0.arriving.removeValue(forKey: ObjectIdentifier(place)) }
  }

  // MARK: Under the lock

  /// Runs `body`, then cuts the connections of the places that it took away.
  private func change<R>(_ body: (inout Use) -> R) -> R {
    let (result, cut) = use.withLock { use in
      let result = body(&use)
      defer { use.lost = [] }
      return (result, use.lost)
    }
    for place in cut { place.cut() }
    return result
  }

  /// Whether so many more bytes fit, if need be without the bodies that stand still.
  private func makeRoom(for bytes: Int, at place: BodyPlace, _ use: inout Use) -> Bool {
    while let isInTheWay = obstacle(bytes, at: place, use) {
      let now = now()
      let stalled = use.arriving.values.filter { other in
        other !== place && other.state.reserved > 0 && isInTheWay(other)
          && now &- other.state.movedAt >= Self.stallNanoseconds
      }
      guard let longest = stalled.min(by: { $0.state.movedAt < $1.state.movedAt }) else {
        return false
      }
      add(-longest.state.reserved, to: longest, &use)
      longest.state.isGone = true
      use.lost.append(longest)
      use.arriving[ObjectIdentifier(longest)] = nil
    }
    return true
  }

  /// Which places could make room for so many bytes more; nil: there is room.
  private func obstacle(
    _ bytes: Int, at place: BodyPlace, _ use: Use
  ) -> ((BodyPlace) -> Bool)? {
    if use.byUser[place.user, default: 0] + bytes > parts.user { return { $0.user == place.user } }
    if use.byAddress[place.address, default: 0] + bytes > parts.address {
      return { $0.address == place.address }
    }
    let size = place.state.reserved + bytes
    if size > Self.smallBytes {
      let more = place.isLarge ? bytes : size
      if use.large + more > parts.large { return \.isLarge }
    }
    return use.all + bytes > parts.all ? { _ in true } : nil
  }

  private func add(_ bytes: Int, to place: BodyPlace, _ use: inout Use) {
    if place.isLarge { use.large -= place.state.reserved }
    place.state.reserved += bytes
    if place.isLarge { use.large += place.state.reserved }
    use.all += bytes
    Self.add(bytes, to: &use.byUser, place.user)
    Self.add(bytes, to: &use.byAddress, place.address)
  }

  private static func add(_ bytes: Int, to table: inout [Asker: Int], _ key: Asker) {
    let sum = (table.removeValue(forKey: key) ?? 0) + bytes
    if sum > 0 { table[key] = sum }
  }
}

/// What one body has reserved.
///
/// `@unchecked Sendable`: `state` is read and changed under the lock of the memory.
final class BodyPlace: MemoryReserve, @unchecked Sendable {
  fileprivate struct State {
    var reserved = 0
    var arrived = 0
    /// How much had come when it moved last, and when that was.
    var marked = 0
    var movedAt: Int64
    /// Another body has its place.
    var isGone = false
  }

  fileprivate let user: Asker
  fileprivate let address: Asker
  fileprivate let cut: @Sendable () -> Void
  fileprivate var state: State
  private let memory: BodyMemory

  fileprivate var isLarge: Bool { state.reserved > BodyMemory.smallBytes }

  fileprivate init(
    in memory: BodyMemory, of user: Asker, at address: Asker, since now: Int64,
    cut: @escaping @Sendable () -> Void
  ) {
    self.memory = memory
    self.user = user
    self.address = address
    self.cut = cut
    state = State(movedAt: now)
  }

  func reserve(_ bytes: Int) -> Bool { memory.reserve(bytes, for: self) }
  func release(_ bytes: Int) { memory.release(bytes, of: self) }
  /// So many bytes of the body have come.
  func arrived(_ bytes: Int) { memory.arrived(bytes, at: self) }
  /// Nothing more of the body comes, or is wanted.
  func end() { memory.end(self) }
}
