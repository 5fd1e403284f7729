/// Notices members that come twice in one object of an entity, objects inside it included.
///
/// One pass over text that is validated already puts the hash of each name, with the number of its object, into a table.
/// Only if one is there already, or a name has escapes, the names themselves are compared. May be used for one entity
/// after the other.
struct RepeatedMembers: ~Copyable {
  /// Hashes; 0: free. A power of two of them.
  private var slots: UnsafeMutablePointer<UInt64>
  private var capacity = 64
  private var count = 0
  /// How many slots were looked at in vain: too many if somebody has chosen names that meet.
  private var collisions = 0
  /// The numbers of the objects that are open.
  private var open: [UInt64] = []

  init() {
    slots = .allocate(capacity: capacity)
    open.reserveCapacity(16)
  }

  deinit { slots.deallocate() }

  /// Throws if an object of the entity in `range`, which must be valid, has a member twice.
  mutating func refuse(in range: Range<Int>, of scanner: ByteScanner) throws(JSONError) {
    guard mayRepeat(ByteScanner(base: scanner.base, end: range.upperBound), range.lowerBound) else {
      return
    }
    try RepeatedMembers.compareNames(in: range, scanner)
  }

  private mutating func mayRepeat(_ scanner: ByteScanner, _ start: Int) -> Bool {
    reset(for: scanner.end &- start)
    var objects: UInt64 = 0
    var at = start
    while true {
      at = scanner.passToQuoteOrBrace(at)
      guard at < scanner.end else { return false }
      switch scanner.base[at] {
      case UInt8(ascii: "{"):
        objects &+= 1
        open.append(objects)
        at &+= 1
      case UInt8(ascii: "}"):
        _ = open.popLast()
        at &+= 1
      default:
        let name = scanner.passHashing(at)
        at = scanner.skipSpace(name.end)
        guard at < scanner.end, scanner.base[at] == UInt8(ascii: ":") else { continue }
        at &+= 1
        guard !name.hasEscapes, let object = open.last,
          insert(name.hash &+ object &* 0x9E37_79B9_7F4A_7C15)
        else { return true }
        // A text needs no hash.
        at = scanner.skipSpace(at)
        if at < scanner.end, scanner.base[at] == UInt8(ascii: "\"") { at = scanner.passString(at) }
      }
    }
  }

  /// Makes room for the names that so many bytes have as a rule: one in 16.
  private mutating func reset(for bytes: Int) {
    var wanted = 64
    while wanted < 4_096, wanted < bytes / 8 { wanted *= 2 }
    if wanted != capacity { allocate(wanted) }
    slots.initialize(repeating: 0, count: capacity)
    (count, collisions) = (0, 0)
    open.removeAll(keepingCapacity: true)
  }

  private mutating func allocate(_ wanted: Int) {
    slots.deallocate()
    capacity = wanted
    slots = .allocate(capacity: capacity)
  }

  /// False if it is there already, or if the table is no help.
  @inline(__always)
  private mutating func insert(_ hash: UInt64) -> Bool {
    let hash = hash == 0 ? 1 : hash
    if count &<< 1 >= capacity { grow() }
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

  @inline(never)
  private mutating func grow() {
    let (old, size) = (slots, capacity)
    capacity = size &* 4
    slots = .allocate(capacity: capacity)
    slots.initialize(repeating: 0, count: capacity)
    count = 0
    for slot in 0..<size where old[slot] != 0 { _ = insert(old[slot]) }
    old.deallocate()
  }

  @inline(never)
  private static func compareNames(
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
  /// The position of the first quote or brace from `position`, which is outside a string; `end` if there is none.
  @inline(__always)
  fileprivate func passToQuoteOrBrace(_ position: Int) -> Int {
    var at = position
    if at < end, base[at] == UInt8(ascii: "\"") { return at }
    while at < end {
      let found = ByteScanner.quotesOrBraces(word(at))
      guard found == 0 else { return at &+ found.trailingZeroBitCount &>> 3 }
      at &+= 8
    }
    return end
  }

  /// The high bit of each quote and brace; only the lowest one is exact. Outside strings no other byte than the braces
  /// becomes 0x7F.
  @inline(__always)
  private static func quotesOrBraces(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let brace = (word | ones &* 0x06) ^ (ones &* 0x7F)
    return (((quote &- ones) & ~quote) | ((brace &- ones) & ~brace)) & (ones &* 0x80)
  }

  /// The position after the string that starts at `position`, and a hash of its first 16 and last bytes.
  @inline(__always)
  fileprivate func passHashing(_ position: Int) -> (end: Int, hash: UInt64, hasEscapes: Bool) {
    let start = position &+ 1
    var at = start
    var hash: UInt64 = 0
    var hasEscapes = false
    while at < end {
      let word = word(at)
      let found = ByteScanner.quotesOrSlashes(word)
      if found == 0 {
        if at &- start < 16 { hash = ByteScanner.mixed(hash, word) }
        at &+= 8
        continue
      }
      let bits = found.trailingZeroBitCount & ~7
      at &+= bits &>> 3
      if base[at] == UInt8(ascii: "\\") {
        hasEscapes = true
        at &+= 2
        continue
      }
      let last = word & (1 &<< UInt64(truncatingIfNeeded: bits) &- 1)
      hash = ByteScanner.mixed(hash &+ UInt64(truncatingIfNeeded: at &- start), last)
      return (at &+ 1, hash, hasEscapes)
    }
    return (end, hash, hasEscapes)
  }

  @inline(__always)
  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word) &* 0x9FB2_1C65_1E98_DF25
    return product ^ product &>> 32
  }

  /// Eight bytes from `position`, the first one lowest; 0 after the end.
  @inline(__always)
  private func word(_ position: Int) -> UInt64 {
    guard position &+ 8 > end else {
      return UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self).littleEndian
    }
    var word: UInt64 = 0
    for index in position..<end {
      word |= UInt64(base[index]) &<< UInt64(truncatingIfNeeded: (index &- position) &* 8)
    }
    return word
  }
}
