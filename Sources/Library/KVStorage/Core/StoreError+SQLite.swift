internal import KVBase
internal import KVSQLite
internal import KVSync

extension StoreError {
  /// The error of a database in the words of the rooms above.
  init(_ error: SQLiteError) {
    self.init(Self.kind(of: error.kind), error.message)
    id = error.entity
    if error.extendedCode != 0 { code = Int(error.extendedCode) }
  }

  /// The same of work within a budget: why it was interrupted.
  init(_ error: SQLiteError, within budget: WorkBudget) {
    self.init(error)
    guard error.kind == .interrupted, let exhaustion = budget.exhaustion else { return }
    self =
      exhaustion == .timeIsOver
      ? StoreError(.timeout, "The local part of the call took too long.")
      : StoreError(.cancelled, "The call was cancelled.")
  }

  private static func kind(of kind: SQLiteError.Kind) -> Kind {
    switch kind {
    case .full: .full
    case .busy: .busy
    case .corrupt: .corrupt
    case .key: .key
    case .evaluation, .invalid: .invalid
    case .interrupted: .cancelled
    case .misuse: .misuse
    case .readOnly, .io, .constraint, .other: .storage
    case .rolledBack: .internal
    }
  }
}
