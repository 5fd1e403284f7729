/// Notices members that come twice in one object of an entity, objects inside it included, while the entity is validated.
///
/// The hash of each name, with the number of its object, goes into a table. Only if one is there already, or a name has
/// escapes, the names themselves are compared. May be used for one entity after the other, by one thread.
final class RepeatedMembers {
  private static let leastCapacity = 64

  /// Hashes; 0: free. A power of two of them.
  private var slots: UnsafeMutablePointer<UInt64>
  private var capacity = RepeatedMembers.leastCapacity
  private var count = 0
  /// How many slots were looked at in vain: too many if an attacker has chosen names that collide.
  private var collisions = 0
  /// How many objects there were.
  private var objects: UInt64 = 0
  /// The numbers of the objects that are open.
  private var open: [UInt64] = []
  /// Whether the names have to be compared.
  private(set) var mayRepeat = false

  init() {
    slots = .allocate(capacity: capacity)
    open.reserveCapacity(16)
  }

  deinit { slots.deallocate() }

  /// Begins an entity, whose first object is open then.
  func begin() {
    // One that had many names does not make those after it slow.
    if capacity > Self.leastCapacity, count &* 16 < capacity { allocate(Self.leastCapacity) }
    slots.initialize(repeating: 0, count: capacity)
    (count, collisions, objects) = (0, 0, 0)
    open.removeAll(keepingCapacity: true)
    mayRepeat = false
    enterObject()
  }

  func enterObject() {
    objects &+= 1
    open.append(objects)
  }

  func leaveObject() { _ = open.popLast() }

  /// Adds a name of the innermost object; `name` is what is between its quotes.
  @inline(__always)
  func add(_ name: Range<Int>, _ scanner: ByteScanner) {
    guard !mayRepeat else { return }
    let (hash, hasEscapes) = scanner.hash(of: name)
    mayRepeat =
      hasEscapes || !insert(hash &+ (open.last ?? 0) &* 0x9E37_79B9_7F4A_7C15)
  }

  private func allocate(_ wanted: Int) {
    slots.deallocate()
    capacity = wanted
    slots = .allocate(capacity: capacity)
  }

  /// False if it is there already, or if the table is no help.
  @inline(__always)
  private func insert(_ hash: UInt64) -> Bool {
    let hash = hash == 0 ? 1 : hash
    if count &<< 1 >= capacity, !grow() { return false }
    // The highest bits of a product depend on all of its factors'.
    var slot = Int(
      truncatingIfNeeded: hash &>> UInt64(truncatingIfNeeded: capacity.leadingZeroBitCount &+ 1))
    while slots[slot] != 0 {
      collisions &+= 1
      guard slots[slot] != hash, collisions < 256 &+ count &* 8 else { return false }
      slot = (slot &+ 1) & (capacity &- 1)
    }
    slots[slot] = hash
    count &+= 1
    return true
  }

  /// False if the table is no help: the names were chosen to collide.
  @inline(never)
  private func grow() -> Bool {
    let (old, size) = (slots, capacity)
    defer { old.deallocate() }
    capacity = size &* 4
    slots = .allocate(capacity: capacity)
    slots.initialize(repeating: 0, count: capacity)
    (count, collisions) = (0, 0)
    for slot in 0..<size where old[slot] != 0 {
      guard insert(old[slot]) else { return false }
    }
    return true
  }

  /// Throws if an object of the entity in `range`, which must be valid, has a member twice.
  static func compareNames(
    in range: Range<Int>, _ scanner: ByteScanner
  ) throws(JSONError) {
    var open: [Set<[UInt8]>] = []
    var at = range.lowerBound
    while at < range.upperBound {
      let start = at
      at = scanner.base[at] == UInt8(ascii: "\"") ? scanner.passString(at) : at &+ 1
      switch scanner.base[start] {
      case UInt8(ascii: "{"): open.append([])
      case UInt8(ascii: "}"): _ = open.popLast()
      case UInt8(ascii: "\""):
        let colon = scanner.skipSpace(at)
        guard colon < range.upperBound, scanner.base[colon] == UInt8(ascii: ":"), !open.isEmpty
        else { continue }
        let name = scanner.unescaped(start &+ 1..<at &- 1)
        guard open[open.count - 1].insert(name).inserted else {
          throw JSONError(.notAnEntity("\(scanner.path(to: at)) occurs twice"), at: start &+ 1)
        }
      default: break
      }
    }
  }
}

extension ByteScanner {
  /// A hash of the bytes of a name, and whether it has escapes.
  @inline(__always)
  fileprivate func hash(of name: Range<Int>) -> (hash: UInt64, hasEscapes: Bool) {
    // Most names are as short as that.
    if name.count <= 8 {
      let word = word(name.lowerBound, before: name.upperBound)
      let hash = ByteScanner.mixed(UInt64(truncatingIfNeeded: name.count), word)
      return (hash, ByteScanner.slashes(word) != 0)
    }
    var hash = UInt64(truncatingIfNeeded: name.count)
    var slashes: UInt64 = 0
    var at = name.lowerBound
    while at < name.upperBound {
      let word = word(at, before: name.upperBound)
      hash = ByteScanner.mixed(hash, word)
      slashes |= ByteScanner.slashes(word)
      at &+= 8
    }
    return (hash, slashes != 0)
  }

  @inline(__always)
  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word) &* 0x9FB2_1C65_1E98_DF25
    return product ^ product &>> 32
  }

  /// Up to eight bytes from `position`, the first one lowest; 0 from `limit` on, which is after it.
  @inline(__always)
  private func word(_ position: Int, before limit: Int) -> UInt64 {
    let count = limit &- position
    guard position &+ 8 <= end else {
      var word: UInt64 = 0
      for index in 0..<min(count, 8) {
        word |= UInt64(base[position &+ index]) &<< UInt64(truncatingIfNeeded: index &* 8)
      }
      return word
    }
    let word = UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self).littleEndian
    return count >= 8 ? word : word & (1 &<< UInt64(truncatingIfNeeded: count &* 8) &- 1)
  }
}
