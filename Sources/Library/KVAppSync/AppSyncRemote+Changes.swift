internal import KVBase
internal import KVJSON
package import KVQuery
package import KVSync

extension AppSyncRemote {
  /// What a sync query gives since a moment, all pages of it. It may be everything: the backend decides that. Nil if the
  /// moment is too old for what was deleted to be told, or if it is more than may be held at once.
  package func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    let table = try table(collection)
    guard let moment = Int64(since.text), isRecent(moment) else { return nil }
    var changes = ModelChanges(table)
    var token = firstPage
    var first: SyncPage?
    while true {
      var request = SyncPageRequest(token, size: pageSize)
      request.since = moment
      let page = try page(request, of: table, call)
      // Something could not be given: everything is read, which says so.
      guard !page.isCut else { return nil }
      changes.add(page.items)
      let began = first ?? page
      guard let next = page.next else {
        try changes.deliver(Matcher(query.filter, of: table.format), to: receive)
        return ReadAnswer(startedAt: began.moment)
      }
      guard next != token else { throw .badAnswer("The backend sent the same page twice.") }
      guard changes.byteCount <= service.configuration.maxAnswerBytes else { return nil }
      (first, token) = (began, next)
    }
  }

  private func isRecent(_ moment: Int64) -> Bool {
    let age = Double(now().milliseconds) / 1000 - Double(moment) / 1000
    return age < service.configuration.syncInterval
  }
}

/// Collects what has changed, of which the highest version of each record counts.
private struct ModelChanges {
  private struct Change {
    var version: Int64
    var record: [UInt8]
    var isDeleted: Bool
  }

  private let table: AppSyncRemote.Table
  private var changes: [RecordID: Change] = [:]
  /// The bytes held in memory.
  private(set) var byteCount = 0

  init(_ table: AppSyncRemote.Table) { self.table = table }

  mutating func add(_ received: ReceivedItems) {
    for item in received.items {
      let key = RecordID(item.key)
      if let known = changes[key], known.version >= item.version { continue }
      let record = received.record(of: item)
      byteCount += record.count
      changes[key] = Change(version: item.version, record: record, isDeleted: item.isDeleted)
    }
  }

  func deliver(
    _ matcher: Matcher, to receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    var deleted: [ChangeBatch.Deletion] = []
    var (saved, left): ([[UInt8]], [String]) = ([], [])
    for (id, change) in changes {
      if change.isDeleted {
        deleted.append(.init(id: id.text, version: RecordVersion(String(change.version))))
      } else if try change.record.withBorrowedBytes({ (bytes) throws(StoreError) in
        try matcher.selects(bytes)
      }) {
        saved.append(change.record)
      } else {
        left.append(id.text)
      }
    }
    if !deleted.isEmpty { try receive(.deleted(deleted)) }
    if !saved.isEmpty {
      try RecordBatch.lend(saved.jsonArray(or: StoreError.noMemory), table.format) {
        (batch) throws(StoreError) in
        try receive(.saved(batch))
      }
    }
    if !left.isEmpty { try receive(.left(left)) }
  }
}
