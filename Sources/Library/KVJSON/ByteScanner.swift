/// Walks over JSON text and validates it: RFC 8259, UTF-8, bounded nesting.
///
/// Positions are offsets from `base`; no function reads at or after `end`. Whatever the bytes are, the
/// scanner either moves on or throws. It holds a borrowed pointer and must not outlive the buffer.
///
/// Stricter than the RFC in one point, like the parser for small JSON: `\u` escapes must not be half a
/// surrogate pair, because no UTF-8 text could hold what they stand for.
package struct ByteScanner {
  package let base: UnsafePointer<UInt8>
  package let end: Int

  /// Over a whole buffer; an empty one has nothing to read.
  package init(_ bytes: UnsafeRawBufferPointer) {
    let start = bytes.baseAddress ?? UnsafeRawPointer(ByteScanner.nothing)
    base = start.assumingMemoryBound(to: UInt8.self)
    end = bytes.count
  }

  /// Over the first `end` bytes from `base`.
  @inlinable
  package init(base: UnsafePointer<UInt8>, end: Int) {
    self.base = base
    self.end = end
  }

  /// Somewhere to point to when there are no bytes; never read and never written.
  nonisolated(unsafe) private static let nothing = UnsafePointer(
    UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

  // MARK: Small steps

  /// The position of the first byte that is no white space.
  @inlinable @inline(__always)
  package func skipSpace(_ position: Int) -> Int {
    var at = position
    while at < end {
      let byte = base[at]
      guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
        break
      }
      at &+= 1
    }
    return at
  }

  /// The byte at a position; throws at the end.
  @inline(__always)
  package func byte(_ position: Int) throws(JSONError) -> UInt8 {
    guard position < end else { throw truncated() }
    return base[position]
  }

  /// Steps over one given byte.
  @inline(__always)
  package func expect(_ wanted: UInt8, _ position: Int) throws(JSONError) -> Int {
    guard try byte(position) == wanted else { throw unexpected(position) }
    return position &+ 1
  }

  // MARK: Values

  /// The position after the value that starts at `position`. `depth` is how many levels are open.
  package func skipValue(
    _ position: Int, depth: Int, numbers: NumberRule = .any
  ) throws(JSONError) -> Int {
    try skipValue(position, depth: depth, numbers: numbers, names: nil)
  }

  /// `names`: get those of the members of all objects.
  func skipValue(
    _ position: Int, depth: Int, numbers: NumberRule, names: RepeatedMembers?
  ) throws(JSONError) -> Int {
    switch try byte(position) {
    case UInt8(ascii: "\""): return try skipString(position)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      return try skipContainer(position, depth: depth, numbers: numbers, names: names)
    case UInt8(ascii: "t"): return try skipWord("true", position)
    case UInt8(ascii: "f"): return try skipWord("false", position)
    case UInt8(ascii: "n"): return try skipWord("null", position)
    default: return try skipNumber(position, numbers)
    }
  }

  /// Steps over an object or array without recursion: one bit for each open level says which it is.
  private func skipContainer(
    _ position: Int, depth: Int, numbers: NumberRule, names: RepeatedMembers?
  ) throws(JSONError) -> Int {
    var levels = Levels()
    var at = position
    var isObject = base[at] == UInt8(ascii: "{")
    try levels.push(isObject, outside: depth, at: at)
    at = skipSpace(at &+ 1)
    if try byte(at) == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return at &+ 1 }
    if isObject { names?.enterObject() }
    while true {
      if isObject {
        let nameEnd = try skipString(at)
        names?.add(at &+ 1..<nameEnd &- 1, self)
        at = skipSpace(nameEnd)
        at = skipSpace(try expect(UInt8(ascii: ":"), at))
      }
      let first = try byte(at)
      if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
        isObject = first == UInt8(ascii: "{")
        try levels.push(isObject, outside: depth, at: at)
        if isObject { names?.enterObject() }
        at = skipSpace(at &+ 1)
        if try byte(at) != (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { continue }
      } else {
        at = skipSpace(try skipScalar(first, at: at, numbers: numbers))
      }
      // After a value, or at the bracket that closes an empty container: close what ends here.
      while try byte(at) != UInt8(ascii: ",") {
        guard base[at] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
          throw unexpected(at)
        }
        at &+= 1
        if isObject { names?.leaveObject() }
        guard let outer = levels.pop() else { return at }
        isObject = outer
        at = skipSpace(at)
      }
      at = skipSpace(at &+ 1)
    }
  }

  @inline(__always)
  private func skipScalar(
    _ first: UInt8, at position: Int, numbers: NumberRule
  ) throws(JSONError) -> Int {
    switch first {
    case UInt8(ascii: "\""): try skipString(position)
    case UInt8(ascii: "t"): try skipWord("true", position)
    case UInt8(ascii: "f"): try skipWord("false", position)
    case UInt8(ascii: "n"): try skipWord("null", position)
    default: try skipNumber(position, numbers)
    }
  }

  private func skipWord(_ word: StaticString, _ position: Int) throws(JSONError) -> Int {
    var at = position
    for index in 0..<word.utf8CodeUnitCount {
      at = try expect(word.utf8Start[index], at)
    }
    return at
  }

  package func skipNumber(_ position: Int, _ numbers: NumberRule = .any) throws(JSONError) -> Int {
    var at = position
    var exponentDigits = 0
    if try byte(at) == UInt8(ascii: "-") { at &+= 1 }
    at = try byte(at) == UInt8(ascii: "0") ? at &+ 1 : try skipDigits(at)
    if at < end, base[at] == UInt8(ascii: ".") { at = try skipDigits(at &+ 1) }
    if at < end, base[at] | 0x20 == UInt8(ascii: "e") {
      at &+= 1
      let sign = try byte(at)
      if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { at &+= 1 }
      let digits = at
      at = try skipDigits(at)
      exponentDigits = at &- digits
    }
    // At most 200 characters, of which at most two are digits of an exponent: below 1e300.
    if exponentDigits > 2 || at &- position > 200, numbers == .finite {
      try checkRange(of: position..<at)
    }
    return at
  }

  @inline(__always)
  private func skipDigits(_ position: Int) throws(JSONError) -> Int {
    guard try byte(position) &- 0x30 <= 9 else { throw unexpected(position) }
    var at = position &+ 1
    while at < end, base[at] &- 0x30 <= 9 { at &+= 1 }
    return at
  }

  // MARK: Failures, out of the way of the hot paths

  @inline(never)
  private func checkRange(of number: Range<Int>) throws(JSONError) {
    let digits = UnsafeBufferPointer(start: base + number.lowerBound, count: number.count)
    guard Double(String(decoding: digits, as: UTF8.self))?.isFinite != true else { return }
    throw JSONError(.numberOutOfRange(path(to: number.lowerBound)), at: number.lowerBound)
  }

  @inline(never)
  package func truncated() -> JSONError { JSONError(.truncated, at: end) }

  @inline(never)
  package func unexpected(_ position: Int) -> JSONError {
    JSONError(.syntax("unexpected character in JSON"), at: position)
  }
}

/// The numbers that a text may contain.
///
/// Programs must save by the strict rule. What is stored already, and what a backend sends, is read whatever it
/// is.
package enum NumberRule: Sendable {
  case any
  /// Numbers in the range of 64-bit floating point, exact or not: they can be compared, and asked for.
  case finite
}

/// The kinds of the open containers: a bit each, on the stack.
private struct Levels {
  private var bits = InlineArray<8, UInt64>(repeating: 0)
  private var depth = 0

  @inline(__always)
  mutating func push(_ isObject: Bool, outside: Int, at position: Int) throws(JSONError) {
    guard depth &+ outside < EntityScanner.maximumDepth else {
      throw JSONError(.tooDeep, at: position)
    }
    let mask = 1 as UInt64 &<< UInt64(truncatingIfNeeded: depth & 63)
    if isObject { bits[depth &>> 6] |= mask } else { bits[depth &>> 6] &= ~mask }
    depth &+= 1
  }

  /// Closes the innermost level; whether the one around it is an object, nil if there is none.
  @inline(__always)
  mutating func pop() -> Bool? {
    depth &-= 1
    guard depth > 0 else { return nil }
    let outer = depth &- 1
    return bits[outer &>> 6] &>> UInt64(truncatingIfNeeded: outer & 63) & 1 == 1
  }
}
