internal import KVBase
package import KVQuery

/// Adds the indexes that queries of collections would have been served by, and drops those that cost more than they save.
/// `IndexLedger` decides. Requests only note what they did; the thread of `IndexBuilder` carries out what follows from that.
/// Safe from any thread.
///
/// Answers never depend on it: an index only finds what a scan would find. What was noted is lost when the server ends; the
/// indexes stay, and earn their place anew. Of several servers with the same data each keeps its own books: whichever
/// adds an index first has added it for all, and one that any of them has used lately is not dropped.
package final class AutomaticIndexes: Sendable {
  /// How many scans may wait to be looked at; more are not noted.
  private static let maxScans = 256
  /// Seconds for which the size of a collection, and the use of an index, count as known.
  private static let freshness: Int64 = 60

  private struct Collection: Hashable {
    let app: Int64
    let name: RecordID
  }

  private struct Scan {
    let wanted: IndexSpec
    let found: Int
    let key: CollectionKey
  }

  /// What requests have noted.
  private struct Notes {
    var scans: [Scan] = []
    var used: [Collection: [RecordID: Int]] = [:]
    var changes: [Collection: Int] = [:]
    var wake: (@Sendable () -> Void)?
  }

  private struct Books {
    var ledger: IndexLedger
    var numbers: [Collection: Int64] = [:]
    var sizes: [Collection: (rows: Int, since: Int64)] = [:]
    /// When the use of an index was recorded last.
    var recorded: [Collection: [RecordID: Int64]] = [:]

    /// The number under which the ledger has a collection.
    mutating func number(_ collection: Collection) -> Int64 {
      let number = numbers[collection] ?? Int64(numbers.count)
      numbers[collection] = number
      return number
    }
  }

  package let rules: IndexLedger.Rules
  private let notes = Monitor(Notes())
  private let books: Monitor<Books>

  package init(_ rules: IndexLedger.Rules = .init()) {
    self.rules = rules
    books = Monitor(Books(ledger: IndexLedger(rules)))
  }

  // MARK: What happens

  /// For noting how a query is answered.
  package func note(of query: Query, in key: CollectionKey) -> QueryNote {
    QueryNote(indexes: self, key: key, wanted: query.namedIDs == nil ? query.wantedIndex : nil)
  }

  /// Notes that so many entities of a collection were written.
  package func changed(_ count: Int, in key: CollectionKey) {
    if count > 0 { notes.withLock { $0.changes[Self.collection(key), default: 0] += count } }
  }

  /// Notes that the administrator has removed an index, so that it is not made again.
  package func refuse(_ name: String, in key: CollectionKey) {
    books.withLock { $0.ledger.refuse(name, in: $0.number(Self.collection(key))) }
  }

  fileprivate func used(_ names: [String], in key: CollectionKey) {
    notes.withLock { notes in
      for name in names {
        notes.used[Self.collection(key), default: [:]][RecordID(name), default: 0] += 1
      }
    }
  }

  fileprivate func scanned(_ wanted: IndexSpec, found: Int, in key: CollectionKey) {
    let wake = notes.withLock { notes -> (@Sendable () -> Void)? in
      guard notes.scans.count < Self.maxScans else { return nil }
      notes.scans.append(Scan(wanted: wanted, found: found, key: key))
      return notes.scans.count == 1 ? notes.wake : nil
    }
    wake?()
  }

  private static func collection(_ key: CollectionKey) -> Collection {
    Collection(app: key.app, name: RecordID(key.name))
  }

  // MARK: What follows

  /// `wake` is called when there is something to look at.
  func start(waking wake: @escaping @Sendable () -> Void) { notes.withLock { $0.wake = wake } }

  /// Looks at what was noted, and adds and drops indexes. One thread at a time.
  func work(on indexes: any IndexStore) throws(ServerError) {
    let noted = notes.withLock { notes in
      let noted = notes
      notes = Notes(wake: noted.wake)
      return noted
    }
    for (collection, names) in noted.used {
      for (name, count) in names { try use(name, count, of: collection, on: indexes) }
    }
    for scan in noted.scans { try look(at: scan, on: indexes) }
    for (collection, count) in noted.changes {
      try pay(for: count, in: collection, on: indexes)
    }
  }

  private func use(
    _ name: RecordID, _ count: Int, of collection: Collection, on indexes: any IndexStore
  ) throws(ServerError) {
    let now = monotonicNanoseconds() / 1_000_000_000
    let isRecorded = books.withLock { books in
      let number = books.number(collection)
      // More than this is not credited.
      for _ in 0..<min(count, 2 * rules.scans) { books.ledger.used(name.text, in: number) }
      let last = books.recorded[collection]?[name] ?? .min
      if last > now - Self.freshness { return true }
      books.recorded[collection, default: [:]][name] = now
      return false
    }
    if !isRecorded { try indexes.recordUse(of: name.text, in: Self.key(collection)) }
  }

  private func look(at scan: Scan, on indexes: any IndexStore) throws(ServerError) {
    let collection = Self.collection(scan.key)
    let rows = try size(of: collection, on: indexes)
    let worthwhile = books.withLock { books in
      books.ledger.scanned(
        scan.wanted, in: books.number(collection), rows: rows, found: scan.found)
    }
    guard let worthwhile else { return }
    let isAdded = try indexes.addAutomatic(worthwhile, to: scan.key, within: rules)
    books.withLock { books in
      let number = books.number(collection)
      if isAdded {
        books.ledger.made(worthwhile.name, in: number, rows: rows)
      } else {
        books.ledger.refuse(worthwhile.name, in: number)
      }
    }
  }

  private func pay(
    for count: Int, in collection: Collection, on indexes: any IndexStore
  ) throws(ServerError) {
    let key = Self.key(collection)
    if !books.withLock({ $0.ledger.isKnown($0.number(collection)) }) {
      let names = try indexes.indexes(of: key).map(\.spec).filter { $0.automatic != nil }
        .map(\.name)
      let rows = names.isEmpty ? 0 : try size(of: collection, on: indexes)
      books.withLock { $0.ledger.know(names, of: $0.number(collection), rows: rows) }
    }
    let dropped = books.withLock { $0.ledger.changed(count, in: $0.number(collection)) }
    for name in dropped where try !indexes.removeAutomatic(name, from: key) {
      let rows = try size(of: collection, on: indexes)
      books.withLock { $0.ledger.made(name, in: $0.number(collection), rows: rows) }
    }
  }

  private func size(
    of collection: Collection, on indexes: any IndexStore
  ) throws(ServerError) -> Int {
    let now = monotonicNanoseconds() / 1_000_000_000
    if let known = books.withLock({ $0.sizes[collection] }), known.since > now - Self.freshness {
      return known.rows
    }
    let rows = try indexes.size(of: Self.key(collection))
    books.withLock { $0.sizes[collection] = (rows, now) }
    return rows
  }

  private static func key(_ collection: Collection) -> CollectionKey {
    CollectionKey(app: collection.app, name: collection.name.text)
  }
}

/// Where a store says how it has answered a query.
package struct QueryNote: Sendable {
  fileprivate let indexes: AutomaticIndexes
  fileprivate let key: CollectionKey
  /// The index that would have served it.
  fileprivate let wanted: IndexSpec?

  /// Indexes find what it asks for.
  package func found(by use: IndexUse) { indexes.used(use.names, in: key) }

  /// Entities were looked at, and so many were what it asks for: all of them, unless indexes were of use.
  package func scanned(found: Int, by use: IndexUse?) {
    if use == nil, let wanted { indexes.scanned(wanted, found: found, in: key) }
  }
}
