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

  private static let next = Atomic<Int>(0)
}
