internal import KVJSON

/// Why a query cannot be understood or carried out.
package struct QueryError: Error, Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// The text is not JSON.
    case json
    /// JSON, but no query: an unknown operator, an operand of the wrong type, an unknown modifier.
    case syntax
    /// A regular expression, or another comparison, took more steps for an entity than it may.
    case budget
    /// The caller's `WorkBudget` is exhausted.
    case exhausted
    /// A local store cannot answer this.
    case unsupported
    /// There is no memory to read or to carry it out.
    case noMemory
  }

  package var kind: Kind
  /// The message: one English sentence.
  package var message: String
  /// The byte offset in the text the query was made from, if it was made from a text.
  package var position: Int?
  /// The key of the entity that it happened to, if it happened to one.
  package private(set) var entity: String?

  /// The error for an exhausted `WorkBudget`.
  package static let exhausted = QueryError(.exhausted, "the query was stopped")

  package static let noMemory = QueryError(.noMemory, "there is not enough memory for the query")

  package init(_ kind: Kind, _ message: String, at position: Int? = nil) {
    self.kind = kind
    self.message = message
    self.position = position
  }

  /// The error with the id of the entity that it happened at.
  func naming(_ entity: UnsafeRawBufferPointer, _ format: RecordFormat) -> QueryError {
    guard kind == .budget, let id = (try? EntityScanner.outline(of: entity, format))?.id else {
      return self
    }
    var error = self
    error.entity = id
    error.message += " for the entity \(JSONValue.string(id).text)"
    return error
  }
}
