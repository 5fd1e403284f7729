internal import KVBase
internal import Synchronization

/// A statement's text with an identity, so that each connection prepares it once and finds it again
/// by number. Make it once and keep it.
package struct SQL: Sendable {
  package let text: String
  let number: Int

  package init(_ text: String) {
    self.text = text
    number = Self.next.add(1, ordering: .relaxed).newValue
  }

  /// The same statement for the same text, as long as fewer than 512 others come between: for texts that are made from
  /// queries.
  package static func shared(_ text: String) -> SQL {
    shared.withLock { shared in
      if let sql = shared.value(for: text) { return sql }
      let sql = SQL(text)
      shared.keep(sql, for: text)
      return sql
    }
  }

  // Names of tables and columns, all of them ours: two such texts are equal only if their bytes are.
  private static let shared = Monitor(RecentCache<String, SQL>(capacity: 512))
  private static let next = Atomic<Int>(0)
}
