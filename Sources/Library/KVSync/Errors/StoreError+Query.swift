package import KVQuery

extension StoreError {
  /// A query that cannot be understood, or not be carried out.
  package init(_ error: QueryError) {
    let kind: Kind =
      switch error.kind {
      case .unsupported: .unsupported
      case .noMemory: .storage
      case .json, .syntax, .budget, .exhausted: .invalid
      }
    self.init(kind, error.message)
    position = error.position
    id = error.entity
  }
}
