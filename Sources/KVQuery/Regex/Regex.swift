/// A compiled regular expression. Immutable; safe from any thread.
///
/// A backtracking matcher, because look-around, back-references and atomic groups need one, with a budget
/// of steps, because backtracking can take for ever: `(a+)+$` over a long text ends with an error instead.
/// Why not a library: PCRE2 would be one more library to need, and the standard library's expressions
/// know no budget.
final class Regex: Sendable {
  /// Steps for one text: some tens of milliseconds.
  static let budget = 1_000_000

  let program: [RegexInstruction]
  let groups: Int
  let marks: Int
  /// Whether it can match at the start of the text only.
  private let isAnchored: Bool
  /// The byte that every match starts with, if there is only one.
  private let firstByte: UInt8?

  init(_ source: String, _ flags: RegexFlags = []) throws(RegexError) {
    var parser = RegexParser(source, flags)
    let node = try parser.parse()
    var compiler = RegexCompiler()
    try compiler.compile(node)
    program = compiler.program
    groups = parser.groups
    marks = compiler.marks
    if case .assertion(.textStart) = compiler.program[0] {
      isAnchored = true
    } else {
      isAnchored = false
    }
    if case .scalar(let scalar) = compiler.program[0], scalar < 0x80 {
      firstByte = UInt8(scalar)
    } else {
      firstByte = nil
    }
  }

  /// Whether it matches somewhere in a text of valid UTF-8.
  func matches(_ text: UnsafeBufferPointer<UInt8>) throws(QueryError) -> Bool {
    var run = RegexRun(self, text)
    var start = 0
    while start <= text.count {
      if try run.matches(from: start) { return true }
      if isAnchored { return false }
      start = run.next(start)
      if let firstByte {
        while start < text.count, text[start] != firstByte { start &+= 1 }
      }
    }
    return false
  }

  /// Whether it matches the whole text.
  func matchesWhole(_ text: UnsafeBufferPointer<UInt8>) throws(QueryError) -> Bool {
    var run = RegexRun(self, text)
    run.mustReachEnd = true
    return try run.matches(from: 0)
  }

  func matches(_ text: String) throws(QueryError) -> Bool {
    try Array(text.utf8).withBorrowed { (bytes) throws(QueryError) in try matches(bytes) }
  }
}
