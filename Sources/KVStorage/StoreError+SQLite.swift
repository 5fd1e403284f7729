internal import KVSQLite
internal import KVSync

extension StoreError {
  /// The error of a database in the words of the rooms above.
  init(_ error: SQLiteError) {
    self.init(Self.kind(of: error.kind), error.message)
    id = error.entity
    if error.extendedCode != 0 { code = Int(error.extendedCode) }
  }

  private static func kind(of kind: SQLiteError.Kind) -> Kind {
    switch kind {
    case .full: .full
    case .busy: .busy
    case .corrupt: .corrupt
    case .evaluation: .invalid
    case .interrupted: .cancelled
    case .misuse: .misuse
    case .readOnly, .io, .constraint, .other: .storage
    case .rolledBack: .internal
    }
  }
}
