internal import KVBase
internal import KVServerCore

/// A row of an entity: who may see it, and what it says.
struct StoredRow: Sendable {
  let id: String
  /// The columns of its access list: groups stand among the users, with a mark in front.
  let acl: ACL
  let version: StoredVersion

  private static let columns: SQL =
    "id, creator, gr, gw, readers, writers, created, modified, body"

  /// The same without the body.
  private static let heads: SQL =
    "id, creator, gr, gw, readers, writers, created, modified, ''::bytea"

  /// The columns. `table`: what stands before their names.
  static func columns(of table: SQL) -> SQL {
    """
    \(table)id, \(table)creator, \(table)gr, \(table)gw, \(table)readers, \(table)writers, \(table)created,
      \(table)modified, \(table)body
    """
  }

  /// The rows of some ids. `withBodies`: false where these are not needed.
  static func select(_ ids: [String], in key: CollectionKey, withBodies: Bool = true) -> SQL {
    """
    SELECT \(withBodies ? columns : heads) FROM entity
    WHERE collection = (SELECT number FROM collection
        WHERE app = \(bind: key.app) AND name = \(bind: key.name))
      AND id = ANY(\(bind: ids))
    """
  }

  /// Reads the columns. `first`: the first of them.
  init(_ rows: ResultRows, _ row: Int, from first: Int = 0) {
    id = rows.text(row, first)
    acl = ACL(rows, row, from: first + 1)
    version = StoredVersion(
      creator: acl.creator, created: Timestamp(milliseconds: rows.int64(row, first + 6)),
      modified: Timestamp(milliseconds: rows.int64(row, first + 7)), body: rows.copy(row, first + 8)
    )
  }

  init(_ record: EntityRecord) {
    id = record.id
    var columns = ACL()
    columns.creator = record.acl.creator
    columns.everybodyReads = record.acl.everybodyReads
    columns.everybodyWrites = record.acl.everybodyWrites
    columns.readers = record.acl.readerNames
    columns.writers = record.acl.writerNames
    acl = columns
    version = StoredVersion(
      creator: record.acl.creator, created: record.created, modified: record.modified,
      body: record.body)
  }
}

extension ACL {
  /// Reads the columns `creator` to `writers`.
  init(_ rows: ResultRows, _ row: Int, from column: Int) {
    self.init()
    creator = rows.text(row, column)
    everybodyReads = rows.optionalFlag(row, column + 1)
    everybodyWrites = rows.optionalFlag(row, column + 2)
    readers = rows.texts(row, column + 3)
    writers = rows.texts(row, column + 4)
  }
}
