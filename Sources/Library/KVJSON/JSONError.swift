/// Why bytes are not the JSON that was expected, and where.
package struct JSONError: Error, Sendable, Equatable {
  package enum Reason: Sendable, Equatable {
    /// The bytes end too early. What follows might make them valid.
    case truncated
    /// The text is not JSON; the parser's message.
    case syntax(String)
    /// The text has more levels than `EntityScanner.maximumDepth`.
    case tooDeep
    /// Larger than the reader was told to accept.
    case tooLarge
    /// A number beyond the range of 64-bit floating point: where it is, such as `a.b[2]`; empty for the text itself.
    case numberOutOfRange(String)
    /// JSON, but not an entity: what is wrong with it.
    case notAnEntity(String)
    /// There was no memory to find out whether the text is JSON: there was no memory to read it.
    case noMemory
  }

  package var reason: Reason
  /// The byte offset at which it was noticed.
  package var position: Int

  package init(_ reason: Reason, at position: Int) {
    self.reason = reason
    self.position = position
  }

  /// The message: one English sentence without the position.
  package var message: String {
    switch reason {
    case .truncated: "the JSON text ends too early"
    case .syntax(let text): text
    case .tooDeep: "more than \(EntityScanner.maximumDepth) levels of nesting"
    case .tooLarge: "the JSON text is too large"
    case .numberOutOfRange(let path):
      (path.isEmpty ? "" : "\(path): ") + "the number is outside the range of 64-bit floating point"
    case .notAnEntity(let text): text
    case .noMemory: "there is not enough memory to read it"
    }
  }
}
