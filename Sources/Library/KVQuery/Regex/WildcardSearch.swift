internal import KVBase

/// A search for any of several wildcard patterns. Immutable; safe from any thread. Linear in the text; of the
/// patterns, only their single characters (`.`) can make it slower.
final class WildcardSearch: Sendable {
  private let patterns: [WildcardPattern]
  private let ignoresCase: Bool
  /// The only pattern, if it is nothing but a text: what most searches are for.
  private let literal: LiteralSearch?

  init(_ patterns: [WildcardPattern], ignoringCase: Bool) {
    self.patterns = patterns
    ignoresCase = ignoringCase
    literal = patterns.count == 1 ? LiteralSearch(patterns[0]) : nil
  }

  /// Whether one of them is somewhere in a text.
  func matches(
    _ text: UnsafeBufferPointer<UInt8>, within budget: WorkBudget
  ) throws(QueryError) -> Bool {
    guard ignoresCase else { return try contains(text, budget) }
    return try text.withFoldedCase { (folded) throws(QueryError) in try contains(folded, budget) }
  }

  private func contains(
    _ text: UnsafeBufferPointer<UInt8>, _ budget: WorkBudget
  ) throws(QueryError) -> Bool {
    if let literal { return literal.matches(text) }
    var run = WildcardRun(text, within: budget)
    for pattern in patterns where try run.matches(pattern) { return true }
    return false
  }
}
