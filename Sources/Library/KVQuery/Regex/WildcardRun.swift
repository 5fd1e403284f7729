internal import Glibc
internal import KVBase

/// One search for wildcard patterns in one text.
struct WildcardRun {
  private let text: UnsafeBufferPointer<UInt8>
  private var effort: SearchEffort

  init(_ text: UnsafeBufferPointer<UInt8>, within budget: WorkBudget) {
    self.text = text
    effort = SearchEffort(forTextOf: text.count, within: budget)
  }

  mutating func matches(_ pattern: WildcardPattern) throws(QueryError) -> Bool {
    switch pattern.end {
    case .anywhere: return try matches(pattern, in: text.indices, toTheEnd: false)
    case .end: return try matches(pattern, in: text.indices, toTheEnd: true)
    case .endOrLastLineFeed:
      if text.last == lineFeed, try matches(pattern, in: 0..<text.count - 1, toTheEnd: true) {
        return true
      }
      return try matches(pattern, in: text.indices, toTheEnd: true)
    }
  }

  // MARK: Lines

  private mutating func matches(
    _ pattern: WildcardPattern, in range: Range<Int>, toTheEnd: Bool
  ) throws(QueryError) -> Bool {
    guard pattern.staysInLine else { return try holds(pattern, range, toTheEnd: toTheEnd) }
    if pattern.isAnchored {
      let line = line(at: range.lowerBound, of: range)
      guard !toTheEnd || line == range else { return false }
      return try holds(pattern, line, toTheEnd: toTheEnd)
    }
    if toTheEnd { return try holds(pattern, lastLine(of: range), toTheEnd: true) }
    var start = range.lowerBound
    while start <= range.upperBound {
      let line = line(at: start, of: range)
      if try holds(pattern, line, toTheEnd: false) { return true }
      start = line.upperBound + 1
    }
    return false
  }

  private func line(at start: Int, of range: Range<Int>) -> Range<Int> {
    start..<(position(of: [lineFeed], in: start..<range.upperBound) ?? range.upperBound)
  }

  private func lastLine(of range: Range<Int>) -> Range<Int> {
    let feed = text[range].lastIndex(of: lineFeed)
    return (feed.map { $0 + 1 } ?? range.lowerBound)..<range.upperBound
  }

  private var lineFeed: UInt8 { UInt8(ascii: "\n") }

  // MARK: Parts

  /// Whether the parts follow each other in a range: what is bound to its ends first, the others where they are
  /// found first.
  private mutating func holds(
    _ pattern: WildcardPattern, _ range: Range<Int>, toTheEnd: Bool
  ) throws(QueryError) -> Bool {
    var parts = pattern.parts[...]
    var (start, end) = (range.lowerBound, range.upperBound)
    if pattern.isAnchored, let first = parts.popFirst() {
      guard let next = try self.end(of: first.elements[...], at: start, within: range) else {
        return false
      }
      start = next
      if parts.isEmpty { return !toTheEnd || start == end }
    }
    if toTheEnd, let last = parts.popLast() {
      let rest = start..<range.upperBound
      guard let before = try self.start(of: last.elements[...], endingAt: end, within: rest) else {
        return false
      }
      end = before
    }
    for part in parts {
      guard let next = try endOfFirst(part, in: start..<end) else { return false }
      start = next
    }
    return true
  }

  /// The position after the first occurrence of a part; nil if there is none.
  private mutating func endOfFirst(
    _ part: WildcardPattern.Part, in range: Range<Int>
  ) throws(QueryError) -> Int? {
    guard let rarest = part.rarest, case .literal(let literal) = part.elements[rarest] else {
      return try end(of: part.elements[...], at: range.lowerBound, within: range)
    }
    var searched = range.lowerBound
    while let found = position(of: literal, in: searched..<range.upperBound) {
      try spend((found - searched) / 16)
      if try start(of: part.elements[..<rarest], endingAt: found, within: range) != nil,
        let end = try end(of: part.elements[rarest...], at: found, within: range)
      {
        return end
      }
      searched = found + 1
    }
    return nil
  }

  /// The end of elements that start at a position; nil if they do not match there.
  private mutating func end(
    of elements: ArraySlice<WildcardPattern.Part.Element>, at start: Int, within range: Range<Int>
  ) throws(QueryError) -> Int? {
    try spend(elements.count)
    var position = start
    for element in elements {
      switch element {
      case .literal(let bytes):
        let end = position + bytes.count
        guard end <= range.upperBound, has(bytes, at: position) else { return nil }
        position = end
      case .anyCharacter:
        guard position < range.upperBound else { return nil }
        repeat { position += 1 } while position < range.upperBound && continues(position)
      }
    }
    return position
  }

  /// The start of elements that end at a position; nil if they do not match there.
  private mutating func start(
    of elements: ArraySlice<WildcardPattern.Part.Element>, endingAt end: Int,
    within range: Range<Int>
  ) throws(QueryError) -> Int? {
    try spend(elements.count)
    var position = end
    for element in elements.reversed() {
      switch element {
      case .literal(let bytes):
        let start = position - bytes.count
        guard start >= range.lowerBound, has(bytes, at: start) else { return nil }
        position = start
      case .anyCharacter:
        guard position > range.lowerBound else { return nil }
        repeat { position -= 1 } while position > range.lowerBound && continues(position)
      }
    }
    return position
  }

  // MARK: Bytes

  /// Whether a byte is inside of a character.
  private func continues(_ position: Int) -> Bool { text[position] & 0xC0 == 0x80 }

  /// The position of the first occurrence of bytes.
  private func position(of bytes: [UInt8], in range: Range<Int>) -> Int? {
    let part = UnsafeBufferPointer(rebasing: text[range])
    return bytes.withUnsafeBytes { part.position(of: $0) }.map { $0 + range.lowerBound }
  }

  /// The text is long enough.
  private func has(_ bytes: [UInt8], at position: Int) -> Bool {
    guard let base = text.baseAddress else { return bytes.isEmpty }
    return bytes.withUnsafeBytes { wanted in
      wanted.baseAddress.map { memcmp(base + position, $0, wanted.count) == 0 } ?? true
    }
  }

  private mutating func spend(_ steps: Int) throws(QueryError) {
    guard effort.spend(steps + 1) else { throw effort.error ?? .exhausted }
  }
}
