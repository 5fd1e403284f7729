package import KVQuery

/// The order in which pages of entities follow one another, and where the next one begins.
package enum PageOrder: Sendable {
  /// That of storage, after a row.
  case storage(after: Int64)
  /// That of ids, after one, perhaps up to another.
  case id(after: String, last: String?)

  /// Nil: all that the query selects has to be sorted.
  package init?(_ query: Query) {
    if let walk = query.walk {
      self = .id(after: walk.after ?? "", last: walk.last)
    } else if query.sorter == nil {
      self = .storage(after: 0)
    } else {
      return nil
    }
  }

  /// The column that has the order.
  package var column: String { if case .storage = self { "n" } else { "id" } }

  /// Tells whether a row comes on the next pages.
  package func range<Piece: SQLPiece>() -> Piece {
    switch self {
    case .storage(let number): "n > \(bind: number)"
    case .id(let id, nil): "id > \(bind: id)"
    case .id(let id, let last?): "id > \(bind: id) AND id <= \(bind: last)"
    }
  }

  /// The same order after another row.
  package func after(_ number: Int64, id: @autoclosure () -> String) -> PageOrder {
    switch self {
    case .storage: .storage(after: number)
    case .id(_, let last): .id(after: id(), last: last)
    }
  }
}

/// How a cursor goes on.
package enum CursorPlan: Sendable {
  case pages(PageOrder)
  /// Rows with these numbers, from an index on.
  case rows([Int64], next: Int)
  /// By a sort key; the rows are not known yet.
  case sort(Sorter)
  case done

  package init(_ query: Query) {
    self = PageOrder(query).map { .pages($0) } ?? query.sorter.map { .sort($0) } ?? .done
  }
}
