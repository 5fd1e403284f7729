internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSync

/// Collects changes in their order, of which the last of each record counts, and sorts them by what they mean for a query.
struct ChangeCollector {
  private enum Change {
    case saved([UInt8])
    case left
    case deleted(RecordVersion?)
  }

  private let description: BackendDescription
  private let matcher: Matcher
  private var changes: [RecordID: Change] = [:]
  /// The bytes of the answers so far: what may be held in memory.
  private(set) var byteCount = 0

  init(_ description: BackendDescription, _ filter: Predicate) {
    self.description = description
    matcher = Matcher(filter, of: description.format)
  }

  mutating func add(_ answer: AnswerObject) throws(StoreError) {
    byteCount += answer.bytes.count
    for range in try answer.elements("changes") {
      switch try RecordChange(answer.object(at: range), description) {
      case .saved(let record, let id, _):
        let isWanted = try record.withBorrowedBytes { (bytes) throws(StoreError) in
          try matcher.selects(bytes)
        }
        changes[RecordID(id)] = isWanted ? .saved(record) : .left
      case .deleted(let id, let version): changes[RecordID(id)] = .deleted(version)
      }
    }
  }

  func deliver(to receive: (ChangeBatch) throws(StoreError) -> Void) throws(StoreError) {
    var (left, deleted): ([String], [ChangeBatch.Deletion]) = ([], [])
    var saved: [[UInt8]] = []
    for (id, change) in changes {
      switch change {
      case .saved(let record): saved.append(record)
      case .left: left.append(id.text)
      case .deleted(let version): deleted.append(.init(id: id.text, version: version))
      }
    }
    if !deleted.isEmpty { try receive(.deleted(deleted)) }
    if !saved.isEmpty {
      try RecordBatch.lend(saved.jsonArray(or: StoreError.noMemory), description.format) {
        (batch) throws(StoreError) in
        try receive(.saved(batch))
      }
    }
    if !left.isEmpty { try receive(.left(left)) }
  }
}
