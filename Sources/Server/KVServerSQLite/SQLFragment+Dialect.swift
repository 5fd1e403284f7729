package import KVQuery
package import KVSQLite
internal import KVServerCore

extension SQLFragment: SQLPiece {
  package static var user: SQLFragment { "user" }

  package static func isAny(_ column: SQLFragment, of texts: [String]) -> SQLFragment {
    "\(column) IN (SELECT value FROM json_each(\(bind: ACL.list(texts))))"
  }

  package init(_ fragment: IndexUse.Fragment) {
    self.init(fragment.sql, fragment.values.map { .value($0) })
  }
}

extension SQLFragment.StringInterpolation: SQLPieces {}
