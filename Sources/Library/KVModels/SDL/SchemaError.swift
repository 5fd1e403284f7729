/// A position in the text of a schema, counted from one. A column counts bytes.
package struct SourceLocation: Sendable, Equatable {
  package let line: Int
  package let column: Int

  package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }
}

/// An error in a schema, with its position.
package struct SchemaError: Error, Sendable, Equatable {
  package let message: String
  package let location: SourceLocation

  init(_ message: String, at location: SourceLocation) {
    (self.message, self.location) = (message, location)
  }

  /// `line 3, column 7: unknown type Pots`.
  package var text: String { "line \(location.line), column \(location.column): \(message)" }
}
