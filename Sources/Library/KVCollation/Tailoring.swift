internal import CCollation

/// The part of the table that holds what a language orders otherwise than the root; empty for the root.
struct Tailoring: Hashable, Sendable {
  var start: UInt32 = 0
  var count: UInt32 = 0
  /// Whether "A" comes before "a".
  var upperFirst = false

  /// The languages that have it so.
  private static let upperFirst: Set<String> = ["da"]
  /// Languages whose order is the root's.
  private static let rooted: Set<String> = [
    "", "root", "simple", "ca", "de", "en", "fr", "ga", "id", "it", "lb", "ms", "nl", "pt", "sw",
    "xh", "zu",
  ]

  /// The tailoring of a language, with the region and the kind that its name has; nil if it is not known.
  static func of(_ locale: String) -> Tailoring? {
    let parts = locale.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let language = parts[0].prefix { $0 != "-" && $0 != "_" }.lowercased()
    guard parts.count == 2 else {
      return rooted.contains(language) ? Tailoring() : named(language)
    }
    let kind = parts[1].hasPrefix("collation=") ? parts[1].dropFirst(10) : parts[1]
    return named(language + "@" + kind)
  }

  private static func named(_ name: String) -> Tailoring? {
    for index in 0..<kvcollation_tailoring_count {
      let entry = kvcollation_tailoring_at(index)
      guard let text = entry.name, String(cString: text) == name else { continue }
      return Tailoring(
        start: entry.start, count: entry.count, upperFirst: upperFirst.contains(name))
    }
    return nil
  }

  /// The value of a character in this order.
  func value(of scalar: UInt32) -> UInt32 {
    count == 0
      ? kvcollation_value(scalar) : kvcollation_value_in(start, count, scalar)
  }
}
