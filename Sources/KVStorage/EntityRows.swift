internal import KVQuery
internal import KVSQLite
internal import KVSync

/// The entities that a query found, read as they are asked for.
///
/// `@unchecked Sendable`: one thread at a time, as `EntityCursor` demands.
final class EntityRows: EntityCursor, @unchecked Sendable {
  /// Nil: there are none.
  private let rows: Rows?
  private let projection: Projection?

  init(_ rows: Rows?, _ projection: Projection?) {
    self.rows = rows
    self.projection = projection
  }

  func next<R>(_ body: (UnsafeRawBufferPointer) -> R) throws(StoreError) -> R? {
    guard let rows else { return nil }
    do throws(SQLiteError) {
      return try rows.next { row in
        guard let projection else { return body(row.bytes(0)) }
        return projection.apply(to: row.bytes(0)).withUnsafeBytes(body)
      }
    } catch {
      throw StoreError(error)
    }
  }

  func close() { rows?.close() }
}
