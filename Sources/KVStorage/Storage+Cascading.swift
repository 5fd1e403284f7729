internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// Removals with all that goes with what is removed, in one transaction.
extension Storage {
  /// Removes records and what belongs to them, and queues that: each deletion in front of that of the record it belongs
  /// to. Gives how many of `ids` were there.
  func remove(
    _ ids: [String], if condition: WriteCondition, collection: String, _ change: Change,
    on db: borrowing Connection
  ) throws(SQLiteError) -> Int {
    var removed = 0
    guard layout.isOwner(collection) else {
      for id in ids
      where try Self.remove(id, if: condition, change: change, on: db) {
        removed += 1
      }
      return removed
    }
    var cascade = Cascade()
    for id in ids where try Self.exists(id, change.table, on: db) {
      removed += 1
      try cascade.add(Cascade.Member(id, in: collection)) { (owner) throws(SQLiteError) in
        try owned(by: owner, on: db)
      }
    }
    let roots = Set(ids.map(RecordID.init))
    for member in cascade.members {
      let isRoot = member.collection == RecordID(collection) && roots.contains(member.id)
      _ = try Self.remove(
        member.id.text, if: isRoot ? condition : .none,
        atEnd: layout.isOwner(member.collection.text),
        change: Change(try catalog.entry(member.collection.text, on: db)), on: db)
    }
    return removed
  }

  /// What belongs to a record directly.
  private func owned(
    by owner: Cascade.Member, on db: borrowing Connection
  ) throws(SQLiteError) -> [Cascade.Member] {
    try layout.owned(by: owner) { (query, collection) throws(SQLiteError) in
      guard let table = try catalog.table(collection, on: db) else { return [] }
      let find = try db.statement(table.idOfRow)
      var ids: [String] = []
      for number in try numbers(of: query, table, on: db) {
        try find.bind(number, at: .row)
        if try find.step(), let id = find.text(0) { ids.append(id) }
        find.reset()
      }
      return ids
    } reading: { (id, collection) throws(SQLiteError) in
      guard let table = try catalog.table(collection, on: db) else { return nil }
      return try StoredRecord(id, table, on: db)?.body
    }
  }

  private static func exists(
    _ id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let statement = try db.statement(table.version)
    try statement.bind(id, at: .id)
    return try statement.step()
  }
}

extension RecordLayout {
  /// What belongs to a record directly. `find` gives the ids of what matches in a collection, `reading` a record.
  func owned<Failure: Error>(
    by owner: Cascade.Member, find: (Query, String) throws(Failure) -> [String],
    reading: (String, String) throws(Failure) -> [UInt8]?
  ) throws(Failure) -> [Cascade.Member] {
    let (id, collection) = (owner.id.text, owner.collection.text)
    let format = format(of: collection)
    var members: [Cascade.Member] = []
    for relation in relations(of: collection) where relation.isOwner {
      switch relation.link {
      case .referrers(let keys), .join(_, let keys, _):
        let query = Query(RecordRelation.holding(id, in: keys, format))
        members += try find(query, relation.owned).map { Cascade.Member($0, in: relation.owned) }
      case .reference(let keys):
        guard let body = try reading(id, collection),
          let other = try? RecordRelation.id(
            heldBy: body, in: keys, self.format(of: relation.collection)),
          try reading(other, relation.collection) != nil
        else { continue }
        members.append(Cascade.Member(other, in: relation.collection))
      }
    }
    return members
  }
}
