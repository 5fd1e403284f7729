/// An integer of any size that counts in units of 2^-1074, the smallest double: every sum of doubles and integers is
/// exactly one. Memory: eight bytes for each 64 binary digits between its first and its last.
///
///     value = Σ limbs[i] · 2^(64 · (first + i) - 1074), the last limb with a sign
struct FixedPoint: Sendable {
  /// The unit of integers.
  static let one = 1074

  /// The position of the first limb, counted in limbs of 64 digits.
  private var first = 0
  /// Two's complement; the last one is nothing but sign, 0 or all ones. None: zero.
  private var limbs: [UInt64] = []

  init() {}

  // MARK: Adding

  /// Adds a finite double.
  mutating func add(_ value: Double) {
    let biased = Int(value.exponentBitPattern)
    let mantissa = value.significandBitPattern | (biased == 0 ? 0 : 1 << 52)
    add(mantissa, at: max(biased - 1, 0), isNegative: value.sign == .minus)
  }

  mutating func add(_ value: Int128) {
    let magnitude = value.magnitude
    add(UInt64(truncatingIfNeeded: magnitude), at: Self.one, isNegative: value < 0)
    add(UInt64(truncatingIfNeeded: magnitude >> 64), at: Self.one + 64, isNegative: value < 0)
  }

  mutating func add(_ other: FixedPoint) {
    for (index, limb) in other.limbs.enumerated() {
      let isSign = index == other.limbs.count - 1
      // All ones are -1, with the weight of their place.
      let magnitude = isSign && limb == .max ? 1 : limb
      add(magnitude, at: 64 * (other.first + index), isNegative: isSign && limb == .max)
    }
  }

  /// Adds a magnitude times 2^`bit`.
  private mutating func add(_ magnitude: UInt64, at bit: Int, isNegative: Bool) {
    guard magnitude != 0 else { return }
    let (limb, shift) = (bit / 64, UInt64(bit % 64))
    makeRoom(from: limb, to: limb + 2)
    let at = limb - first
    let parts = (magnitude << shift, shift == 0 ? 0 : magnitude >> (64 - shift))
    var carry = isNegative ? subtract(parts.0, at) : add(parts.0, at)
    carry =
      isNegative ? subtract(parts.1, at + 1, borrow: carry) : add(parts.1, at + 1, carry: carry)
    var next = at + 2
    while carry, next < limbs.count {
      carry = isNegative ? subtract(0, next, borrow: carry) : add(0, next, carry: carry)
      next += 1
    }
    if sign != 0, sign != .max { limbs.append(isNegative ? .max : 0) }
  }

  /// The last limb.
  private var sign: UInt64 { limbs.last ?? 0 }

  /// Makes limbs for these digits; the last one is then still nothing but sign.
  private mutating func makeRoom(from low: Int, to high: Int) {
    if limbs.isEmpty { first = low }
    if low < first {
      limbs.insert(contentsOf: repeatElement(0, count: first - low), at: 0)
      first = low
    }
    let sign = sign
    while first + limbs.count <= high { limbs.append(sign) }
  }

  /// Adds one limb; returns the carry.
  private mutating func add(_ part: UInt64, _ at: Int, carry: Bool = false) -> Bool {
    let (sum, isOver) = limbs[at].addingReportingOverflow(part)
    let (result, isOverToo) = sum.addingReportingOverflow(carry ? 1 : 0)
    limbs[at] = result
    return isOver || isOverToo
  }

  private mutating func subtract(_ part: UInt64, _ at: Int, borrow: Bool = false) -> Bool {
    let (difference, isUnder) = limbs[at].subtractingReportingOverflow(part)
    let (result, isUnderToo) = difference.subtractingReportingOverflow(borrow ? 1 : 0)
    limbs[at] = result
    return isUnder || isUnderToo
  }

  // MARK: Rounding

  private var isNegative: Bool { sign == .max }

  /// The number without its sign.
  private var magnitude: [UInt64] {
    guard isNegative else { return limbs }
    var carry = true
    return limbs.map { limb in
      let (result, isOver) = (~limb).addingReportingOverflow(carry ? 1 : 0)
      carry = isOver
      return result
    }
  }

  /// The nearest double, of two the even one; nil beyond all doubles.
  var double: Double? {
    Digits(magnitude, first).double(isExact: true).map { isNegative ? -$0 : $0 }
  }

  /// The double nearest to the quotient; nil beyond all doubles, and for a divisor of 0.
  func double(dividedBy divisor: UInt64) -> Double? {
    guard divisor != 0 else { return nil }
    // 64 digits after the smallest double's, so that what is left tells on which side of the middle it is.
    var quotient = [0] + magnitude
    var rest: UInt64 = 0
    for at in quotient.indices.reversed() {
      (quotient[at], rest) = divisor.dividingFullWidth((rest, quotient[at]))
    }
    let double = Digits(quotient, first - 1).double(isExact: rest == 0)
    return double.map { isNegative ? -$0 : $0 }
  }

  /// The value, if it is an integer of 64 bits.
  var integer: Int64? {
    let digits = Digits(magnitude, first)
    guard !digits.hasOnes(below: Self.one), digits.end <= Self.one + 64 else { return nil }
    let magnitude = digits.word(at: Self.one)
    if !isNegative { return Int64(exactly: magnitude) }
    return magnitude <= Int64.min.magnitude ? 0 &- Int64(bitPattern: magnitude) : nil
  }
}

// MARK: As bytes

extension FixedPoint {
  /// The lowest byte's number in two bytes, then the bytes, the lowest first, the last with a sign. The same value gives
  /// the same bytes.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for limb in limbs {
      for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: limb >> shift))
      }
    }
    let sign: UInt8 = isNegative ? 0xFF : 0
    while bytes.last == sign, (bytes.dropLast().last ?? 0) >> 7 == sign >> 7 { bytes.removeLast() }
    let zeros = bytes.prefix { $0 == 0 }.count
    let offset = zeros == bytes.count ? 0 : first * 8 + zeros
    return [UInt8(truncatingIfNeeded: offset), UInt8(truncatingIfNeeded: offset >> 8)]
      + bytes.dropFirst(zeros)
  }

  /// Reads stored bytes; nil for what is no such number, or larger than any sum.
  init?(bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count >= 2 else { return nil }
    let offset = Int(bytes[0]) | Int(bytes[1]) << 8
    guard offset + bytes.count <= 320 else { return nil }
    guard let last = bytes.dropFirst(2).last else { return }
    first = offset / 8
    let sign: UInt8 = last >> 7 == 1 ? 0xFF : 0
    var padded = Array(repeating: 0, count: offset % 8) + bytes.dropFirst(2)
    padded += Array(repeating: sign, count: 16 - padded.count % 8)
    for start in stride(from: 0, to: padded.count, by: 8) {
      limbs.append(padded[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) })
    }
  }
}

/// Binary digits of a magnitude, numbered as those of `FixedPoint`.
private struct Digits {
  private let limbs: [UInt64]
  private let start: Int

  init(_ limbs: [UInt64], _ first: Int) {
    self.limbs = limbs
    start = first * 64
  }

  /// The position after the highest one; 0 if there is none.
  var end: Int {
    guard let last = limbs.lastIndex(where: { $0 != 0 }) else { return 0 }
    return start + last * 64 + 64 - limbs[last].leadingZeroBitCount
  }

  /// The 64 digits from a position on.
  func word(at position: Int) -> UInt64 {
    let offset = position - start
    let (limb, shift) = (offset >> 6, UInt64(offset & 63))
    let low = limbs.indices.contains(limb) ? limbs[limb] >> shift : 0
    guard shift > 0, limbs.indices.contains(limb + 1) else { return low }
    return low | limbs[limb + 1] << (64 - shift)
  }

  func hasOnes(below position: Int) -> Bool {
    for (number, limb) in limbs.enumerated() {
      let digits = position - start - number * 64
      guard digits > 0 else { return false }
      if digits >= 64 ? limb != 0 : limb << (64 - UInt64(digits)) != 0 { return true }
    }
    return false
  }

  /// The nearest double, of two the even one; `isExact`: nothing but zeros is after the digits.
  func double(isExact: Bool) -> Double? {
    // A double has 53 digits, and none after the smallest one's.
    let lowest = max(end - 53, 0)
    guard lowest < 2046 else { return nil }
    var mantissa = word(at: lowest) & (1 << 53 - 1)
    if word(at: lowest - 1) & 1 == 1 {
      let isMiddle = isExact && !hasOnes(below: lowest - 1)
      if !isMiddle || mantissa & 1 == 1 { mantissa += 1 }
    }
    // One more than all ones has a digit more; its exponent is one more by itself.
    let bits = UInt64(lowest) << 52 + mantissa
    let double = Double(bitPattern: bits)
    return double.isFinite ? double : nil
  }
}
