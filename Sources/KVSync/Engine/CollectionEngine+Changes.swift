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
    _ query: Query, _ how: Refreshing, _ local: any LocalStore, _ remote: any Remote, _ call: Call
  ) throws(StoreError) -> Refreshed {
    if how.usesChanges, !query.isPaged,
      let refreshed = try refreshByChanges(query, local, remote, call)
    {
      return refreshed
    }
    if how.comparesVersions, !query.isPaged,
      let refreshed = try refreshByComparing(query, how.pageSize, local, remote, call)
    {
      return refreshed
    }
    switch how.paging {
    case .off: return try refresh(query, local, remote, call)
    case .pages(let size, let ranges):
      return try refreshPaged(query, (max(1, size), ranges), local, remote, call)
    }
  }

  /// Asks for what has changed since this filter was read last; nil if that is not known, or the backend
  /// cannot tell, or what it has now is other data: then everything has to be read.
  ///
  /// Each step may be repeated: until the new moment is recorded, at the end, the next time asks for the
  /// same changes again.
  private func refreshByChanges(
    _ query: Query, _ local: any LocalStore, _ remote: any Remote, _ call: Call
  ) throws(StoreError) -> Refreshed? {
    let key = RequestKey(filter: query.filterText, fields: "")
    // First: a record that is forgotten from now on is not made anew by this read.
    let mark = try local.beginRefresh(of: collection)
    guard let since = try local.lastRequest(key, in: collection) else { return nil }
    return try inFlight.settlements.reading { (reading) throws(StoreError) -> Refreshed? in
      var body: [UInt8] = []
      let answer = try call.repeating { () throws(StoreError) in
        body = []
        return try remote.changes(of: query.selection, since: since.text, in: collection, call) {
          (piece) throws(StoreError) in
          body.append(contentsOf: piece)
        }
      }
      // Read first: what is no answer of the backend says nothing about its data.
      let changes = answer == nil ? nil : try Changes(body)
      guard let answer, let changes, since.isOfSameData(as: answer.startedAt) else {
        try local.forgetRequest(key, in: collection)
        return nil
      }
      var refreshed = Refreshed()
      refreshed.removed = try forget(
        changes.deleted, in: local, of: reading, at: answer.startedAt.map { RecordVersion($0.text) }
      )
      refreshed.pulled = try store(changes.changed, in: local, of: reading)
      let intake = Intake(self, local, remote, call, reading)
      let left = try intake.settle(changes.left, heldBy: try heldQueries(but: key, local))
      refreshed.removed += try forget(left, in: local, of: reading)
      intake.progress.advance(by: changes.changed.outlines.count)
      try recheckSettled(during: reading, local, remote, call)
      _ = try local.finishRefresh(
        of: collection, from: mark, deletingUnseen: nil,
        recording: answer.startedAt.map { (key, $0) })
      return refreshed
    }
  }

  func store(
    _ entities: (bytes: ArraySlice<UInt8>, outlines: [EntityOutline]),
    in local: any EntityReader & Replica & Tombstones,
    of reading: Settlements.Reading
  ) throws(StoreError) -> Int {
    guard !entities.outlines.isEmpty else { return 0 }
    return try entities.bytes.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in
        try store(bytes, entities.outlines, in: local, of: reading)
      }
    }.get()
  }

  /// Deletes what a read says is gone, except for what a write has settled since. `version`: which has gone, if that is known.
  func forget(
    _ ids: [String], in local: any Replica, of reading: Settlements.Reading,
    at version: RecordVersion? = nil
  ) throws(StoreError) -> Int {
    guard !ids.isEmpty else { return 0 }
    return try inFlight.settlements.storing(reading) { (isSettled) throws(StoreError) in
      let unsettled = ids.filter { isSettled?($0) != true }
      return try local.forget(unsettled, in: collection, at: version)
    }
  }
}
