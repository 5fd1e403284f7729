internal import KVBase

/// The filter that the original client sends for a format, letter by letter, where that differs from ours
/// because it is broken: text is not escaped, `LIKE` cannot match, `@count` forgets its operator.
///
/// The format is kept as it was written and parsed again on demand, which is rare.
struct LegacySDKFilter: Sendable, Equatable {
  let format: String
  let arguments: String
  let keys: KeyMap
  let now: Timestamp
  /// The application's names that were replaced since.
  private(set) var renaming = KeyMap()
  /// The further conditions.
  private(set) var restriction: Predicate = .everything

  init(_ format: String, _ arguments: String, keys: KeyMap, now: Timestamp) {
    self.format = format
    self.arguments = arguments
    self.keys = keys
    self.now = now
  }

  static func == (left: LegacySDKFilter, right: LegacySDKFilter) -> Bool {
    left.format.hasSameBytes(as: right.format) && left.arguments.hasSameBytes(as: right.arguments)
      && left.keys == right.keys && left.now == right.now && left.renaming == right.renaming
      && left.restriction == right.restriction
  }

  func renamed(by keys: KeyMap) -> LegacySDKFilter {
    var form = self
    form.renaming = keys
    return form
  }

  func and(_ other: Predicate) -> LegacySDKFilter {
    var form = self
    form.restriction = restriction.and(other)
    return form
  }
}
