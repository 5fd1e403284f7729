/// One step of a regular expression's program.
enum RegexInstruction: Sendable {
  case scalar(UInt32)
  /// A scalar in any case; the operand is folded.
  case folded(UInt32)
  case set(ScalarSet)
  case assertion(RegexNode.Assertion)
  case backreference(Int, ignoreCase: Bool)
  /// Goes on at the first; if that fails, at the second.
  case split(Int, Int)
  case jump(Int)
  /// Notes the position as the start or end of a group.
  case save(Int)
  /// Notes the position; `progress` fails if nothing was matched since.
  case mark(Int)
  case progress(Int)
  /// Runs what follows up to its `accept` on its own, then goes on at `next`.
  case atomic(next: Int)
  case look(ahead: Bool, negative: Bool, next: Int)
  case accept
}

/// Makes the program of a regular expression.
struct RegexCompiler {
  /// What bounded repetitions may blow an expression up to.
  private static let maximumSize = 20_000

  private(set) var program: [RegexInstruction] = []
  private(set) var marks = 0
  /// Nodes emitted, empty ones included.
  private var work = 0

  mutating func compile(_ node: RegexNode) throws(RegexError) {
    try emit(node)
    program.append(.accept)
  }

  private mutating func emit(_ node: RegexNode) throws(RegexError) {
    work += 1
    guard work < RegexCompiler.maximumSize else {
      throw RegexError(message: "the expression is too large", position: 0)
    }
    switch node {
    case .empty: break
    case .scalar(let scalar, let ignoreCase):
      let isCased = ignoreCase && !CaseFolding.others(scalar.value).isEmpty
      program.append(isCased ? .folded(CaseFolding.folded(scalar.value)) : .scalar(scalar.value))
    case .set(let set): program.append(.set(set))
    case .sequence(let parts): for part in parts { try emit(part) }
    case .choice(let branches): try emitChoice(branches)
    case .capture(let group, let inner):
      program.append(.save(2 * group))
      try emit(inner)
      program.append(.save(2 * group + 1))
    case .atomic(let inner): try emitOnItsOwn(inner) { .atomic(next: $0) }
    case .look(let inner, let ahead, let negative):
      try emitOnItsOwn(inner) { .look(ahead: ahead, negative: negative, next: $0) }
    case .repeated(let inner, let low, let high, let greed):
      try emitRepeated(inner, low, high, greed)
    case .backreference(let group, let ignoreCase):
      program.append(.backreference(group, ignoreCase: ignoreCase))
    case .assertion(let assertion): program.append(.assertion(assertion))
    }
  }

  private mutating func emitOnItsOwn(
    _ node: RegexNode, _ instruction: (Int) -> RegexInstruction
  ) throws(RegexError) {
    let start = program.count
    program.append(.accept)
    try emit(node)
    program.append(.accept)
    program[start] = instruction(program.count)
  }

  private mutating func emitChoice(_ branches: [RegexNode]) throws(RegexError) {
    var exits: [Int] = []
    for branch in branches.dropLast() {
      let split = program.count
      program.append(.accept)
      try emit(branch)
      exits.append(program.count)
      program.append(.accept)
      program[split] = .split(split + 1, program.count)
    }
    if let last = branches.last { try emit(last) }
    for exit in exits { program[exit] = .jump(program.count) }
  }

  private mutating func emitRepeated(
    _ node: RegexNode, _ low: Int, _ high: Int?, _ greed: RegexNode.Greed
  ) throws(RegexError) {
    if greed == .possessive {
      return try emit(.atomic(.repeated(node, from: low, upTo: high, .greedy)))
    }
    for _ in 0..<low { try emit(node) }
    guard let high else { return try emitLoop(node, greed) }
    var exits: [Int] = []
    for _ in low..<high {
      exits.append(program.count)
      program.append(.accept)
      try emit(node)
    }
    for exit in exits { program[exit] = split(exit + 1, program.count, greed) }
  }

  /// Any number of times; each time has to match something, or the loop would not end.
  private mutating func emitLoop(
    _ node: RegexNode, _ greed: RegexNode.Greed
  ) throws(RegexError) {
    let start = program.count
    let mark = marks
    marks += 1
    program.append(.accept)
    program.append(.mark(mark))
    try emit(node)
    program.append(.progress(mark))
    program.append(.jump(start))
    program[start] = split(start + 1, program.count, greed)
  }

  private func split(_ inside: Int, _ behind: Int, _ greed: RegexNode.Greed) -> RegexInstruction {
    greed == .lazy ? .split(behind, inside) : .split(inside, behind)
  }
}
