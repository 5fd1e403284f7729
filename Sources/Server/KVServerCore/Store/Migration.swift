internal import KVBase

/// Makes one store's data that of another: what is there already stays, what is missing or different is copied, what is too
/// much is removed. So it can be broken off and begun again at any time, and a second run costs little more than reading.
package struct Migration {
  /// How many rows, and about how many bytes, one transaction changes.
  private static let batchRows = 500
  private static let batchBytes = 4 << 20

  /// What was found in one table of one place.
  package struct Count: Sendable, Equatable {
    package var app: String
    package var collection: String?
    package var table: TransferTable
    package var rows = 0
    /// SHA-256 over the rows, each with the digest of its body, in hex digits.
    package var checksum = ""
  }

  private let source: any TransferReader
  private let target: any TransferTarget
  /// Takes lines about the progress.
  private let tell: (String) -> Void

  package init(
    from source: any TransferReader, to target: any TransferTarget,
    tell: @escaping (String) -> Void
  ) {
    self.source = source
    self.target = target
    self.tell = tell
  }

  /// Copies what differs. Gives how many rows were added or replaced.
  @discardableResult
  package func copy() throws(TransferFailure) -> Int {
    var copied = 0
    for app in try source.apps() {
      let collections = try source.collections(of: app)
      try target.prepare(app, collections)
      for (table, place) in Self.tables(app, collections) {
        copied += try copy(table, place)
      }
    }
    return copied
  }

  /// Makes of a complete copy what servers can use, once both sides were read whole and found the same. Nothing may write to
  /// the source meanwhile. Gives what is the same.
  package func finish() throws(TransferFailure) -> [Count] {
    var latest: Int64 = 0
    for app in try source.apps() {
      try target.complete(
        app, try source.collections(of: app), clock: try source.clock(of: app))
      latest = max(latest, try source.lastWrite(to: app))
    }
    let counts = try verify()
    try target.finish(epoch: source.epoch, latest: latest)
    return counts
  }

  /// Whether an earlier run has moved all data already. Throws if the source was written to after that: what was written
  /// there would be missing.
  package func isFinished() throws(TransferFailure) -> Bool {
    guard let moved = target.movedUntil else { return false }
    for app in try source.apps() where try source.lastWrite(to: app) > moved {
      throw TransferFailure(
        "the data was moved to this database already, and has been written to here since: the database lacks that"
      )
    }
    return true
  }

  /// Reads both sides whole. Throws at the first difference; gives what is the same.
  package func verify() throws(TransferFailure) -> [Count] {
    var counts: [Count] = []
    for app in try source.apps() {
      let collections = try source.collections(of: app)
      guard try target.collections(of: app) == collections else {
        throw TransferFailure("the settings of the collections of \(app) differ")
      }
      for (table, place) in Self.tables(app, collections) {
        counts.append(try verify(table, place))
      }
    }
    return counts
  }

  private static func tables(
    _ app: String, _ collections: [TransferCollection]
  ) -> [(TransferTable, TransferPlace)] {
    TransferTable.ofApps.map { ($0, TransferPlace(app: app)) }
      + collections.flatMap { collection in
        TransferTable.ofCollections.map {
          ($0, TransferPlace(app: app, collection: collection.name))
        }
      }
  }

  // MARK: One table

  private func copy(
    _ table: TransferTable, _ place: TransferPlace
  ) throws(TransferFailure) -> Int {
    var theirs = RowStream(source, of: table, in: place)
    var ours = RowStream(target, of: table, in: place)
    var batch = Batch()
    var copied = 0
    while let step = try Self.step(&theirs, &ours) {
      switch step {
      case .same: continue
      case .missing(let row): batch.add(row)
      case .different(let row):
        batch.remove(ours.key(row))
        batch.add(row)
      case .tooMuch(let row): batch.remove(ours.key(row))
      }
      if batch.changes >= Self.batchRows || batch.bytes >= Self.batchBytes {
        copied += try send(&batch, of: table, in: place, after: copied)
      }
    }
    copied += try send(&batch, of: table, in: place, after: copied)
    return copied
  }

  private func send(
    _ batch: inout Batch, of table: TransferTable, in place: TransferPlace, after before: Int
  ) throws(TransferFailure) -> Int {
    guard batch.changes > 0 else { return 0 }
    try target.change(table, in: place, removing: batch.removed, adding: batch.added)
    let count = batch.added.count
    if (before + count) / 10_000 > before / 10_000 {
      tell("\(place.app)/\(place.collection ?? ""): copied \(before + count) of \(table)")
    }
    batch = Batch()
    return count
  }

  private func verify(
    _ table: TransferTable, _ place: TransferPlace
  ) throws(TransferFailure) -> Count {
    var theirs = RowStream(source, of: table, in: place)
    var ours = RowStream(target, of: table, in: place)
    var count = Count(app: place.app, collection: place.collection, table: table)
    var digest: [UInt8] = []
    while let step = try Self.step(&theirs, &ours) {
      guard case .same(let row) = step else {
        throw TransferFailure(
          "\(place.app)/\(place.collection ?? ""): row \(count.rows + 1) of \(table) differs")
      }
      count.rows += 1
      digest = SHA256.hash(digest + row.encoded)
    }
    count.checksum = hexText(digest)
    return count
  }

  // MARK: Rows side by side

  private enum Step {
    case same(TransferRow)
    /// Only the source has it.
    case missing(TransferRow)
    /// The source's row; the target has another one under its key.
    case different(TransferRow)
    /// Only the target has it.
    case tooMuch(TransferRow)
  }

  /// Nil: both are at their ends.
  private static func step(
    _ theirs: inout RowStream, _ ours: inout RowStream
  ) throws(TransferFailure) -> Step? {
    switch (try theirs.peek(), try ours.peek()) {
    case (nil, nil): return nil
    case (let their?, nil):
      theirs.advance()
      return .missing(their)
    case (nil, let our?):
      ours.advance()
      return .tooMuch(our)
    case (let their?, let our?):
      let order = TransferValue.order(theirs.key(their), ours.key(our))
      if order <= 0 { theirs.advance() }
      if order >= 0 { ours.advance() }
      if order < 0 { return .missing(their) }
      if order > 0 { return .tooMuch(our) }
      return their.isSame(as: our) ? .same(their) : .different(their)
    }
  }

  /// Changes that go together.
  private struct Batch {
    var removed: [[TransferValue]] = []
    var added: [TransferRow] = []
    var bytes = 0
    var changes: Int { removed.count + added.count }

    mutating func add(_ row: TransferRow) {
      added.append(row)
      bytes += row.body?.count ?? 0
    }

    mutating func remove(_ key: [TransferValue]) { removed.append(key) }
  }

  /// The rows of a table in their order, page by page.
  private struct RowStream {
    private let reader: any TransferReader
    private let table: TransferTable
    private let place: TransferPlace
    private var page: [TransferRow] = []
    private var next = 0
    private var last: [TransferValue]?
    private var isAtEnd = false

    init(_ reader: any TransferReader, of table: TransferTable, in place: TransferPlace) {
      self.reader = reader
      self.table = table
      self.place = place
    }

    func key(_ row: TransferRow) -> [TransferValue] { Array(row.values.prefix(table.keyCount)) }

    /// The row that is next; nil at the end.
    mutating func peek() throws(TransferFailure) -> TransferRow? {
      if next == page.count, !isAtEnd {
        page = try reader.rows(of: table, in: place, after: last)
        next = 0
        isAtEnd = page.isEmpty
        last = page.last.map(key) ?? last
      }
      return next < page.count ? page[next] : nil
    }

    mutating func advance() { next += 1 }
  }
}

extension TransferValue {
  /// Less than 0, 0 or more: the order of keys, which have integers and bytes.
  fileprivate static func order(_ left: [TransferValue], _ right: [TransferValue]) -> Int {
    for (left, right) in zip(left, right) where left != right {
      switch (left, right) {
      case (.integer(let left), .integer(let right)): return left < right ? -1 : 1
      case (.bytes(let left), .bytes(let right)):
        return left.lexicographicallyPrecedes(right) ? -1 : 1
      default: return 1
      }
    }
    return 0
  }

  /// Adds the value in a form that no other value has.
  fileprivate func encode(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(0)
    case .integer(let number):
      bytes.append(1)
      Self.encode(number, to: &bytes)
    case .flag(let flag): bytes += [2, flag ? 1 : 0]
    case .bytes(let text):
      bytes.append(3)
      Self.encode(Int64(text.count), to: &bytes)
      bytes += text
    case .texts(let texts):
      bytes.append(4)
      Self.encode(Int64(texts.count), to: &bytes)
      for text in texts { TransferValue.bytes(text).encode(to: &bytes) }
    }
  }

  private static func encode(_ number: Int64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
  }
}

extension TransferRow {
  fileprivate var encoded: [UInt8] {
    var bytes: [UInt8] = []
    for value in values + [.bytes(digest)] { value.encode(to: &bytes) }
    return bytes
  }
}
