internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSync

/// Takes in changes in their order, of which the last of each record counts, and sorts them by what they mean for a query.
struct ChangeIntake {
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

  mutating func add(_ answer: BackendAnswer) throws(StoreError) {
    byteCount += answer.bytes.count
    for range in try answer.elements("changes") {
      let change = try answer.object(at: range)
      if let record = change.range("upsert") {
        try upsert(change.record(at: record))
      } else if let id = try change.value("delete") {
        guard let key = description.key(ofID: id) else { throw .unfitMember("delete", "an id") }
        changes[RecordID(key)] = .deleted(try version(of: change))
      } else {
        throw .neitherUpsertNorDelete
      }
    }
  }

  private mutating func upsert(_ record: [UInt8]) throws(StoreError) {
    let outline: EntityOutline
    do throws(JSONError) {
      outline = try EntityScanner.outline(of: record, description.format)
    } catch {
      throw .badAnswer(error)
    }
    guard let id = outline.id else { throw .entityWithoutId }
    let isWanted = try record.withBorrowedBytes { (bytes) throws(StoreError) in
      try matcher.selects(bytes)
    }
    changes[RecordID(id)] = isWanted ? .saved(record) : .left
  }

  private func version(of change: BackendAnswer) throws(StoreError) -> RecordVersion? {
    switch try change.value("version") {
    case nil: nil
    case .string(let text): RecordVersion(text)
    case .int(let number): RecordVersion(String(number))
    default: throw .unfitMember("version", "a version")
    }
  }

  func hand(to receive: (ChangeBatch) throws(StoreError) -> Void) throws(StoreError) {
    var (left, deleted): ([String], [ChangeBatch.Deletion]) = ([], [])
    var saved: [UInt8] = []
    for (id, change) in changes {
      switch change {
      case .saved(let record):
        saved.append(saved.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
        saved += record
      case .left: left.append(id.text)
      case .deleted(let version): deleted.append(.init(id: id.text, version: version))
      }
    }
    if !deleted.isEmpty { try receive(.deleted(deleted)) }
    if !saved.isEmpty {
      try RecordBatch.lend(saved + [UInt8(ascii: "]")], description.format) {
        (batch) throws(StoreError) in try receive(.saved(batch))
      }
    }
    if !left.isEmpty { try receive(.left(left)) }
  }
}

extension StoreError {
  static var neitherUpsertNorDelete: StoreError {
    .badAnswer("The backend sent a change that is neither \"upsert\" nor \"delete\".")
  }
}
