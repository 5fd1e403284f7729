internal import KVJSON
internal import KVSQLite

extension Statement {
  /// Whether the body in a column, with its checksum in the next, is what was stored. One that was stored before there were
  /// checksums is to be an entity at least.
  func hasEntity(_ column: Int32) -> Bool {
    isIntact(column)
      && (!isNull(column + 1)
        || (try? EntityScanner.outline(of: bytes(column), isInput: false)) != nil)
  }
}
