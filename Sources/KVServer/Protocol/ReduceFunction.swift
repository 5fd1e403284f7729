/// What a `_group` request computes: one of the five aggregates of the protocol, recognised in the
/// JavaScript that the SDKs send. No JavaScript is run, and what is not recognised for certain is refused.
struct ReduceFunction: Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    case count, sum, minimum, maximum
    /// `sum`: the member that adds up, if there is one. `count`: the member that counts.
    case average(sum: String?, count: String)
  }

  var kind: Kind
  /// The member of the group that receives the result.
  var result: String
  /// The path in the entity whose numbers are aggregated; empty for a count.
  var field = ""

  /// Reads `function(doc, out) { … }`; nil if it is none of the five.
  init?(_ source: String) {
    guard let tokens = JavaScriptToken.read(source) else { return nil }
    var parser = ReduceParser(tokens)
    guard let statements = parser.function(), let found = Self.recognise(statements) else {
      return nil
    }
    self = found
  }

  private init(_ kind: Kind, _ result: String, _ field: String = "") {
    self.kind = kind
    self.result = result
    self.field = field
  }

  private static func recognise(_ statements: [ReduceStatement]) -> ReduceFunction? {
    switch statements.count {
    case 1:
      switch statements[0] {
      case .increment(let member): return ReduceFunction(.count, member)
      case .add(let member, let field): return ReduceFunction(.sum, member, field)
      case .extreme(let member, let field, let isMinimum):
        return ReduceFunction(isMinimum ? .minimum : .maximum, member, field)
      case .divide, .mean: return nil
      }
    case 2:
      guard case .mean(let result, let field, let count) = statements[0],
        statements[1] == .increment(count), result != count
      else { return nil }
      return ReduceFunction(.average(sum: nil, count: count), result, field)
    case 3:
      guard case .divide(let result, let sum, let count) = statements[2],
        Set([result, sum, count]).count == 3
      else { return nil }
      for (first, second) in [(0, 1), (1, 0)] {
        if statements[first] == .increment(count), case .add(sum, let field) = statements[second] {
          return ReduceFunction(.average(sum: sum, count: count), result, field)
        }
      }
      return nil
    default: return nil
    }
  }
}

/// One step of a reduce function; members are those of the group, fields those of the entity.
enum ReduceStatement: Equatable {
  /// `out.a++`, `out.a += 1`, `out.a = out.a + 1`
  case increment(String)
  /// `out.a += doc.f`, `out.a = out.a + doc.f`
  case add(String, field: String)
  /// `out.a = Math.min(out.a, doc.f)`, or `max`
  case extreme(String, field: String, isMinimum: Bool)
  /// `out.a = out.s / out.c`
  case divide(String, sum: String, count: String)
  /// `out.a = (out.a * out.c + doc.f) / (out.c + 1)`
  case mean(String, field: String, count: String)
}
