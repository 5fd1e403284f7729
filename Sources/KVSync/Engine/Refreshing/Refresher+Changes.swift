internal import KVJSON
internal import KVQuery

/// Delta sync, for backends that keep a history.
extension Refresher {
  /// Asks for what has changed since this filter was read last; nil if that is not known, or the backend
  /// cannot tell: then everything has to be read.
  ///
  /// Each step may be repeated: until the new moment is recorded, at the end, the next time asks for the
  /// same changes again.
  func refreshByChanges(_ query: Query) throws(StoreError) -> Refreshed? {
    let key = RequestKey(filter: query.filterText, fields: "")
    // First: a record that is forgotten from now on is not made anew by this read.
    let mark = try local.beginRefresh(of: collection)
    guard let since = try local.lastRequest(key, in: collection) else { return nil }
    return try fence.reading(query.selection, since: mark) {
      (reading) throws(StoreError) -> Refreshed? in
      let ingestor = PageIngestor(self, reading: reading)
      var refreshed = Refreshed()
      var left: [String] = []
      let answer = try ingestor.repeating(&refreshed) { (refreshed) throws(StoreError) in
        left = []
        return try remote.changes(of: query.selection, since: since, in: collection, call: call) {
          (batch) throws(StoreError) in
          switch batch {
          case .saved(let records): try ingestor.store(records, &refreshed)
          case .deleted(let gone): refreshed.removed += try forget(gone, since: mark, of: reading)
          case .left(let ids): left += ids
          }
        }
      }
      guard let answer else {
        try local.forgetRequest(key, in: collection)
        return nil
      }
      left = try ingestor.settle(left, heldBy: try heldQueries(but: key, during: reading))
      refreshed.removed += try engine.forget(left, in: local, of: reading, since: mark)
      try recheckSettled(during: reading)
      _ = try local.finishRefresh(
        of: collection, from: mark, deletingUnseen: nil,
        recording: answer.startedAt.map { (key, $0) })
      return refreshed
    }
  }

  private func forget(
    _ gone: [ChangeBatch.Deletion], since mark: RefreshMark, of reading: ReadWriteFence.Reading
  ) throws(StoreError) -> Int {
    var removed = 0
    for (version, some) in Dictionary(grouping: gone, by: \.version) {
      removed += try engine.forget(
        some.map(\.id), in: local, of: reading, since: mark, at: version)
    }
    return removed
  }
}
