/// One search of a regular expression in one text.
///
/// The stack of choices is an array, not the thread's stack. Beside choices it holds old values of groups
/// and marks, which are put back on the way to the choice below them.
struct RegexRun {
  private enum Frame {
    case choice(instruction: Int, position: Int)
    case group(Int, Int)
    case mark(Int, Int)
  }

  private let regex: Regex
  private let text: UnsafeBufferPointer<UInt8>
  private var saved: [Int]
  private var marks: [Int]
  private var frames: [Frame] = []
  private var steps = 0
  var mustReachEnd = false

  init(_ regex: Regex, _ text: UnsafeBufferPointer<UInt8>) {
    self.regex = regex
    self.text = text
    saved = Array(repeating: -1, count: 2 * regex.groups + 2)
    marks = Array(repeating: -1, count: regex.marks)
  }

  mutating func matches(from start: Int) throws(QueryError) -> Bool {
    frames.removeAll(keepingCapacity: true)
    for place in saved.indices { saved[place] = -1 }
    return try run(0, start, mustEndAt: mustReachEnd ? text.count : nil) != nil
  }

  /// Runs up to `accept`; gives where that was. What was changed is put back on failure only.
  private mutating func run(
    _ instruction: Int, _ start: Int, mustEndAt end: Int? = nil
  ) throws(QueryError) -> Int? {
    let floor = frames.count
    var at = instruction
    var position = start
    while true {
      steps &+= 1
      guard steps <= Regex.budget else {
        throw QueryError(.budget, "a regular expression takes too many steps")
      }
      var goesOn = true
      switch regex.program[at] {
      case .accept:
        if end == nil || end == position { return position }
        goesOn = false
      case .jump(let target): at = target
      case .split(let first, let second):
        frames.append(.choice(instruction: second, position: position))
        at = first
      case .save(let place):
        frames.append(.group(place, saved[place]))
        saved[place] = position
        at &+= 1
      case .mark(let place):
        frames.append(.mark(place, marks[place]))
        marks[place] = position
        at &+= 1
      case .progress(let place):
        goesOn = marks[place] != position
        at &+= 1
      case .assertion(let assertion):
        goesOn = holds(assertion, position)
        at &+= 1
      case .backreference(let group, let ignoreCase):
        goesOn = skipReference(group, ignoreCase, &position)
        at &+= 1
      case .atomic(let next):
        if let end = try onItsOwn(at &+ 1, position) { position = end } else { goesOn = false }
        at = next
      case .look(let ahead, let negative, let next):
        goesOn = try look(at &+ 1, position, ahead: ahead) != negative
        at = next
      case .scalar, .folded, .set:
        goesOn = skipScalar(regex.program[at], &position)
        at &+= 1
      }
      if !goesOn {
        guard let choice = backtrack(to: floor) else { return nil }
        (at, position) = choice
      }
    }
  }

  /// Undoes changes down to the last choice; nil if there is none above `floor`.
  private mutating func backtrack(to floor: Int) -> (Int, Int)? {
    while frames.count > floor, let frame = frames.popLast() {
      switch frame {
      case .choice(let instruction, let position): return (instruction, position)
      case .group(let place, let value): saved[place] = value
      case .mark(let place, let value): marks[place] = value
      }
    }
    return nil
  }

  /// Runs a part that is never entered again: its choices go, its groups stay.
  private mutating func onItsOwn(
    _ instruction: Int, _ start: Int, mustEndAt wanted: Int? = nil
  ) throws(QueryError) -> Int? {
    let floor = frames.count
    guard let end = try run(instruction, start, mustEndAt: wanted) else { return nil }
    var kept: [Frame] = []
    for frame in frames[floor...] {
      if case .choice = frame { continue }
      kept.append(frame)
    }
    frames.removeSubrange(floor...)
    frames += kept
    return end
  }

  private mutating func look(
    _ instruction: Int, _ position: Int, ahead: Bool
  ) throws(QueryError) -> Bool {
    if ahead { return try onItsOwn(instruction, position) != nil }
    var start = position
    while true {
      if try onItsOwn(instruction, start, mustEndAt: position) != nil { return true }
      guard start > 0 else { return false }
      start = previous(start)
    }
  }

  // MARK: Text

  private func skipScalar(_ instruction: RegexInstruction, _ position: inout Int) -> Bool {
    guard position < text.count else { return false }
    let (scalar, next) = decode(position)
    position = next
    switch instruction {
    case .scalar(let wanted): return scalar == wanted
    case .folded(let wanted): return scalar == wanted || CaseFolding.folded(scalar) == wanted
    case .set(let set): return set.contains(scalar)
    default: return false
    }
  }

  private func skipReference(_ group: Int, _ ignoreCase: Bool, _ position: inout Int) -> Bool {
    let (start, end) = (saved[2 * group], saved[2 * group + 1])
    guard start >= 0, end >= start else { return false }
    var at = start
    while at < end {
      guard position < text.count else { return false }
      let (wanted, nextWanted) = decode(at)
      let (found, nextFound) = decode(position)
      let isSame =
        wanted == found
        || (ignoreCase && CaseFolding.folded(wanted) == CaseFolding.folded(found))
      guard isSame else { return false }
      (at, position) = (nextWanted, nextFound)
    }
    return true
  }

  private func holds(_ assertion: RegexNode.Assertion, _ position: Int) -> Bool {
    switch assertion {
    case .textStart: position == 0
    case .textEnd: position == text.count
    case .textEndOrLastLineEnd:
      position == text.count || (position == text.count - 1 && text[position] == 0x0A)
    case .lineStart: position == 0 || text[position - 1] == 0x0A
    case .lineEnd: position == text.count || text[position] == 0x0A
    case .wordEdge: isWord(position - 1) != isWord(position)
    case .noWordEdge: isWord(position - 1) == isWord(position)
    }
  }

  private func isWord(_ position: Int) -> Bool {
    text.indices.contains(position) && ScalarSet.isWord(UInt32(text[position]))
  }

  /// The position of the next character; one behind the end at the end.
  func next(_ position: Int) -> Int {
    position < text.count ? decode(position).next : position &+ 1
  }

  private func previous(_ position: Int) -> Int {
    var at = position &- 1
    while at > 0, text[at] & 0xC0 == 0x80 { at &-= 1 }
    return at
  }

  /// One character of UTF-8; bytes that are none stand for themselves.
  @inline(__always)
  private func decode(_ position: Int) -> (scalar: UInt32, next: Int) {
    let first = text[position]
    guard first >= 0xC2 else { return (UInt32(first), position &+ 1) }
    let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    guard position &+ length <= text.count else { return (UInt32(first), position &+ 1) }
    var scalar = UInt32(first) & (0x7F &>> UInt32(length))
    for place in 1..<length {
      scalar = scalar &<< 6 | UInt32(text[position &+ place] & 0x3F)
    }
    return (scalar, position &+ length)
  }
}
