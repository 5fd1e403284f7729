package import KVQuery

extension IndexUse {
  /// Tells whether a row is what indexes find, or else has one of the ids that a filter names; nil: neither says anything.
  package static func isFound<Piece: SQLPiece>(by use: IndexUse?, or ids: [String]?) -> Piece? {
    if let rows = use?.rows { return "n IN (\(Piece(rows)))" }
    return ids.map { Piece.isAny("id", of: $0) }
  }
}

extension IndexUse.Walk {
  /// Selects columns of the rows `e` for which a condition holds, in the order of the index, and then of ids. `table`: what
  /// joins `e` to the rows `x` of the index.
  package func select<Piece: SQLPiece>(
    _ columns: String, from table: Piece, where condition: Piece
  ) -> Piece {
    let range: Piece = self.condition.map { " AND \(Piece($0))" } ?? ""
    return """
      SELECT \(sql: columns) FROM \(sql: self.table) AS x \(table)
      WHERE \(condition)\(range) ORDER BY \(sql: terms), e.id
      """
  }
}
