internal import KVBase
internal import KVJSON
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
    var groups: [Cascade.Member: [Group]] = [:]
    for id in ids where try Self.exists(id, change.table, on: db) {
      removed += 1
      try cascade.add(Cascade.Member(id, in: collection)) { (owner) throws(SQLiteError) in
        try owned(by: owner, groups: &groups, on: db)
      }
    }
    let roots = Set(ids.map { Cascade.Member($0, in: collection) })
    var rest = cascade.members[...]
    while let first = rest.first {
      let name = first.collection.text
      let isOwner = layout.isOwner(name)
      let change = Change(try catalog.entry(name, on: db))
      // Of owners none is counted: each of a long run would count the rest of it again.
      let run =
        isOwner
        ? [] : rest.prefix { $0.collection == first.collection && !roots.contains($0) }
      if run.count >= Self.manyMembers {
        try Self.remove(run.map(\.id.text), change, on: db)
        rest.removeFirst(run.count)
      } else {
        for group in groups[first] ?? [] { try remove(group, on: db) }
        _ = try Self.remove(
          first.id.text, if: roots.contains(first) ? condition : .none,
          atEnd: isOwner, change: change, on: db)
        rest.removeFirst()
      }
    }
    return removed
  }

  /// Many records of a collection to which nothing belongs, that belong to one record.
  private struct Group {
    let query: Query
    let collection: String
  }

  private func remove(_ group: Group, on db: borrowing Connection) throws(SQLiteError) {
    let change = Change(try catalog.entry(group.collection, on: db))
    _ = try remove(selectedBy: group.query, change, on: db)
  }

  /// How many records of one collection are worth a removal of all at once.
  private static let manyMembers = 32

  /// Removes records to which nothing belongs, all at once.
  private static func remove(
    _ ids: [String], _ change: Change, on db: borrowing Connection
  ) throws(SQLiteError) {
    let list = JSONValue.array(ids.map { .string($0) }).text
    let found = try db.prepare(
      """
      SELECT \(sql: Table.body), n FROM \(sql: change.table.entities)
      WHERE id IN (SELECT value FROM json_each(\(bind: list)))
      """)
    _ = try Removal(change, on: db).remove(found, on: db)
  }

  /// What belongs to a record directly, except what is added to the groups.
  private func owned(
    by owner: Cascade.Member, groups: inout [Cascade.Member: [Group]], on db: borrowing Connection
  ) throws(SQLiteError) -> [Cascade.Member] {
    try layout.owned(by: owner) { (query, collection) throws(SQLiteError) in
      guard let table = try catalog.table(collection, on: db) else { return [] }
      guard !layout.isOwner(collection) else { return try self.ids(of: query, table, on: db) }
      var first = query
      first.limit = Self.manyMembers
      let ids = try self.ids(of: first, table, on: db)
      guard ids.count == Self.manyMembers else { return ids }
      groups[owner, default: []].append(Group(query: query, collection: collection))
      return []
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
