internal import KVBase

/// A regular expression, ready to be searched for in many texts. Immutable; safe from any thread.
///
/// Literal text with wildcards, which is what most expressions are, is searched for in linear time by
/// `WildcardSearch`; everything else is left to PCRE2. Both do the same bounded work for a text of the same length.
final class Regex: Sendable {
  private enum Engine: Sendable {
    case wildcards(WildcardSearch)
    case pcre(PCREExpression)
  }

  private let engine: Engine

  /// Throws for an expression that PCRE2 does not understand, and for one that is too long.
  init(_ source: String, _ flags: RegexFlags = []) throws(RegexError) {
    try Pattern.checkLength(of: source)
    if let wildcards = WildcardSearch(source, flags) {
      engine = .wildcards(wildcards)
    } else {
      engine = .pcre(try PCREExpression(source, flags))
    }
  }

  /// Whether it matches somewhere in a text of UTF-8. Of other bytes it may say anything.
  ///
  /// Throws when that takes more work than is allowed for one text, and when the budget is exhausted.
  func matches(
    _ text: UnsafeBufferPointer<UInt8>, within budget: WorkBudget = .unlimited
  ) throws(QueryError) -> Bool {
    switch engine {
    case .wildcards(let search): try search.matches(text, within: budget)
    case .pcre(let expression): try expression.matches(text, within: budget)
    }
  }

  func matches(
    _ text: String, within budget: WorkBudget = .unlimited
  ) throws(QueryError) -> Bool {
    try Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(QueryError) in
      try matches(bytes, within: budget)
    }
  }
}
