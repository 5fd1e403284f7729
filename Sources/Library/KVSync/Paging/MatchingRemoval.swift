internal import KVBase
internal import KVJSON
internal import KVQuery

/// The deletion of what a query selects on a backend that is asked for each record by itself.
struct MatchingRemoval {
  /// How often a record is tried that others change.
  static let maxAttempts = 5

  private let remote: any Remote
  private let query: Query
  private let matcher: Matcher
  private let isEvaluated: Bool
  private let collection: String
  private let call: Call

  init(_ remote: any Remote, _ query: Query, in collection: String, call: Call) {
    (self.remote, self.query, self.collection, self.call) = (remote, query, collection, call)
    matcher = Matcher(query.filter, of: remote.format(of: collection))
    isEvaluated =
      remote.evaluatesConditions && query.filter != .everything
      && (try? remote.check(condition: query.filter, in: collection)) != nil
  }

  func deletions(of batch: RecordBatch) throws(StoreError) -> [RemoteWrite] {
    let selected = try batch.filtered { (record) throws(StoreError) in
      try matcher.selects(record)
    }
    return zip(try selected.ids(), selected.outlines).map {
      .delete(id: $0, if: condition($1.version(in: selected.bytes)))
    }
  }

  /// The deletion of one record; nil: it is not selected.
  func deletion(of id: String, _ entity: BackendEntity) throws(StoreError) -> RemoteWrite? {
    let isSelected = try entity.bytes.withBorrowedBytes { (bytes) throws(StoreError) in
      try matcher.selects(bytes)
    }
    return isSelected ? .delete(id: id, if: condition(entity.version)) : nil
  }

  private func condition(_ version: RecordVersion?) -> RemoteCondition {
    guard let version, remote.keepsConditions else { return .none }
    return isEvaluated ? .matches(query.filter, version) : .version(version)
  }

  /// Gives how many were deleted. `changed` receives those whose condition was not met.
  func send(_ writes: [RemoteWrite], changed: inout [String]) throws(StoreError) -> Int {
    var (removed, refused): (Int, [String]) = (0, [])
    var failure: StoreError?
    remote.send(writes, in: collection, call: call) { index, result in
      switch (result, writes[index]) {
      case (.success(.deleted(let count, _)), _): removed += count
      case (.failure(let error), .delete(let id, let condition))
      where error.kind == .conflict && condition != .none:
        refused.append(id)
      case (.failure(let error), .delete) where error.kind == .notFound: break
      case (.failure(let error), _): failure = failure ?? error
      case (.success, _): break
      }
    }
    if let failure { throw failure }
    changed += refused
    return removed
  }
}
