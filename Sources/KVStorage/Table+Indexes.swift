internal import KVQuery
internal import KVSQLite

extension Table {
  /// The table of an index of this collection.
  func index(_ number: Int64, _ spec: IndexSpec) -> IndexTable {
    IndexTable(number: number, spec, on: entities, format: format)
  }
}
