/// Why a record does not fit its model.
package struct ModelError: Error, Sendable, Equatable {
  /// In words that name the field: `Post.rating has to be an integer of 32 bits`.
  package let message: String
  /// The members that lead to it from the top of the record, such as `parts[2].size`; empty: the record itself.
  package let path: String

  package init(message: String, path: String) { (self.message, self.path) = (message, path) }
}
