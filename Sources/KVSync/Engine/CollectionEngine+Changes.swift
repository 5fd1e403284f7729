internal import KVJSON
internal import KVQuery

extension CollectionEngine {
  /// How a read brings the local store up to date.
  package struct Refreshing: Sendable, Equatable {
    package var paging: Paging
    /// Whether to ask only for what has changed since the last time, where the backend can tell.
    package var usesChanges: Bool
    /// Whether to list what there is and fetch what differs, where nothing better is possible.
    package var comparesVersions: Bool

    package init(
      paging: Paging = .off, usesChanges: Bool = false, comparesVersions: Bool = false
    ) {
      self.paging = paging
      self.usesChanges = usesChanges
      self.comparesVersions = comparesVersions
    }
  }

  /// Brings what matches up to date: by its changes if that is wanted and possible, else by reading all.
  func refresh(
    _ query: Query, _ how: Refreshing, local: any LocalStore, remote: any Remote, call: Call
  ) throws(StoreError) -> Refreshed {
    if how.usesChanges, !query.isPaged,
      let refreshed = try refreshByChanges(query, local, remote: remote, call: call)
    {
      return refreshed
    }
    if how.comparesVersions, !query.isPaged,
      let refreshed = try refreshByComparing(
        query, how.pageSize, local: local, remote: remote, call: call)
    {
      return refreshed
    }
    switch how.paging {
    case .off: return try refresh(query, local, remote: remote, call: call)
    case .pages(let size, let ranges):
      return try refreshPaged(
        query, PageWish(size: max(1, size), parts: ranges), local: local, remote: remote, call: call
      )
    }
  }

  /// Asks for what has changed since this filter was read last; nil if that is not known, or the backend
  /// cannot tell: then everything has to be read.
  ///
  /// Each step may be repeated: until the new moment is recorded, at the end, the next time asks for the
  /// same changes again.
  private func refreshByChanges(
    _ query: Query, _ local: any LocalStore, remote: any Remote, call: Call
  ) throws(StoreError) -> Refreshed? {
    let key = RequestKey(filter: query.filterText, fields: "")
    // First: a record that is forgotten from now on is not made anew by this read.
    let mark = try local.beginRefresh(of: collection)
    guard let since = try local.lastRequest(key, in: collection) else { return nil }
    return try inFlight.settlements.reading { (reading) throws(StoreError) -> Refreshed? in
      let intake = PageIngestor(self, local, remote: remote, call: call, reading: reading)
      var refreshed = Refreshed()
      var left: [String] = []
      let answer = try intake.repeating(&refreshed) { (refreshed) throws(StoreError) in
        left = []
        return try remote.changes(of: query.selection, since: since, in: collection, call: call) {
          (batch) throws(StoreError) in
          switch batch {
          case .saved(let records): try intake.store(records, &refreshed)
          case .deleted(let gone): refreshed.removed += try forget(gone, in: local, of: reading)
          case .left(let ids): left += ids
          }
        }
      }
      guard let answer else {
        try local.forgetRequest(key, in: collection)
        return nil
      }
      left = try intake.settle(left, heldBy: try heldQueries(but: key, local))
      refreshed.removed += try forget(left, in: local, of: reading)
      try recheckSettled(during: reading, local, remote: remote, call: call)
      _ = try local.finishRefresh(
        of: collection, from: mark, deletingUnseen: nil,
        recording: answer.startedAt.map { (key, $0) })
      return refreshed
    }
  }

  private func forget(
    _ gone: [ChangeBatch.Deletion], in local: any Replica, of reading: ReadWriteFence.Reading
  ) throws(StoreError) -> Int {
    var removed = 0
    for (version, some) in Dictionary(grouping: gone, by: \.version) {
      removed += try forget(some.map(\.id), in: local, of: reading, at: version)
    }
    return removed
  }

  /// Deletes what a read says is gone, except for what a write has settled since. `version`: which has gone, if that is known.
  func forget(
    _ ids: [String], in local: any Replica, of reading: ReadWriteFence.Reading,
    at version: RecordVersion? = nil
  ) throws(StoreError) -> Int {
    guard !ids.isEmpty else { return 0 }
    return try inFlight.settlements.storing(reading) { (isSettled) throws(StoreError) in
      let unsettled = ids.filter { isSettled?($0) != true }
      return try local.forget(unsettled, in: collection, at: version)
    }
  }
}
