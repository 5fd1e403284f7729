internal import KVBase
internal import KVServerCore

/// The tokens of writes. They are stored in the transaction of their write, and looked up in one that has taken its app's time:
/// a write that is repeated while the first is under way waits for that.
struct WriteTokens {
  private struct Known: Hashable {
    let key: WriteToken.Key
    let owner: Int64
  }

  private let collection: CollectionKey
  private var done: [Known: DoneWrite] = [:]

  /// `rows`: what `select` has found.
  init(_ collection: CollectionKey, _ rows: ResultRows? = nil) {
    self.collection = collection
    guard let rows else { return }
    for row in 0..<rows.count {
      let key = WriteToken.Key(high: rows.int64(row, 0), low: rows.int64(row, 1))
      let known = Known(key: key, owner: rows.int64(row, 2))
      done[known] = DoneWrite(kind: rows.int64(row, 3), at: rows.int64(row, 4))
    }
  }

  /// Selects what is known of some writes; nil: none of them has a token. Whose they are is not known yet.
  static func select(
    _ writes: [Result<EntityWrite, ServerError>], in collection: CollectionKey
  ) -> SQL? {
    let keys = writes.compactMap { write -> Int64? in
      guard let write = try? write.get() else { return nil }
      return write.token?.key(of: write.id, in: collection.name).high
    }
    guard !keys.isEmpty else { return nil }
    return """
      SELECT high, low, owner, kind, at FROM write_token
      WHERE app = \(bind: collection.app) AND high = ANY(\(bind: keys))
      """
  }

  /// What an earlier write with the same token has done; nil: there was none.
  func find(_ write: EntityWrite, by viewer: Viewer) -> DoneWrite? {
    guard !done.isEmpty, let token = write.token else { return nil }
    return done[
      Known(
        key: token.key(of: write.id, in: collection.name),
        owner: WriteToken.owner(viewer.principal))]
  }

  /// Remembers a write, if it has a token.
  func add(
    _ done: DoneWrite, _ write: EntityWrite, by viewer: Viewer,
    in transaction: AppWriter.Transaction
  ) {
    guard let token = write.token else { return }
    let key = token.key(of: write.id, in: collection.name)
    transaction.enqueue(
      """
      INSERT INTO write_token (app, high, low, owner, at, kind)
      VALUES (\(bind: transaction.app), \(bind: key.high), \(bind: key.low),
        \(bind: WriteToken.owner(viewer.principal)), \(bind: done.at.milliseconds),
        \(bind: done.kind.rawValue))
      """)
  }

  /// Forgets some of those that are older than every history, or too many; gives how many.
  static func forget(defaultDays: Int) -> SQL {
    """
    DELETE FROM write_token WHERE n IN (
      SELECT n FROM write_token ORDER BY n LIMIT \(bind: WriteToken.forgottenAtOnce))
      AND (at < (extract(epoch FROM clock_timestamp()) * 1000)::int8 - 86400000 * greatest(
          \(bind: WriteToken.minDays), \(bind: defaultDays),
          (SELECT max(history_days) FROM collection))
        OR n <= (SELECT max(n) FROM write_token) - \(bind: WriteToken.maxCount))
    """
  }
}
