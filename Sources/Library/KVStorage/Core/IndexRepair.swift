internal import KVBase
internal import KVQuery
internal import KVSQLite

/// Steps of the migration: they make indexes anew whose tables were kept in another way.
enum IndexRepair {
  /// Makes indexes anew that may hold the values of other members.
  ///
  /// Before it, the triggers that keep indexes up took names of members for the same that only look the same (`é` as
  /// one character, and as `e` with a mark), in whichever collections of whichever files the process had open. So every
  /// index of a name that can be written in two ways may be wrong, and so may one that looks like another of its
  /// file.
  static func remakeConfused(_ db: borrowing Connection) throws(SQLiteError) {
    let indexes = try all(on: db)
    let look = Dictionary(grouping: indexes) { names(of: $0.spec) }
    try remake(on: db) { index in
      let names = names(of: index.spec)
      return !names.utf8.allSatisfy { $0 < 0x80 } || (look[names]?.count ?? 0) > 1
    }
  }

  /// Makes indexes with totals anew: these were sums of integers, and knew of no other number.
  static func remakeTotals(_ db: borrowing Connection) throws(SQLiteError) {
    try remake(on: db) { $0.spec.hasTotals }
  }

  /// Makes the triggers of ordered indexes anew.
  static func renewTriggers(_ db: borrowing Connection) throws(SQLiteError) {
    for index in try all(on: db) {
      guard case .ordered = index.spec.kind else { continue }
      try db.execute(index.renewTriggers)
    }
  }

  /// Fills the indexes of words again: before, texts in scripts without spaces had other words.
  static func refillWords(_ db: borrowing Connection) throws(SQLiteError) {
    for index in try all(on: db) {
      guard case .text = index.spec.kind else { continue }
      let trigger = index.name + "_insert"
      let text = try db.prepare("SELECT sql FROM sqlite_schema WHERE name = \(bind: trigger)")
      // Which words are in it depends on the layout of the records, which only the trigger knows.
      if try text.step(), let trigger = text.text(0), let words = indexedWords(in: trigger) {
        try db.execute(index.refill(words: words))
      }
    }
  }

  /// The words of the index, read from its trigger.
  private static func indexedWords(in trigger: String) -> String? {
    guard let call = trigger.firstRange(ofText: "kv_index_words(new.body, '") else { return nil }
    var literal = trigger[call.upperBound...].utf8
    var words: [UInt8] = []
    // A quotation mark in it stands there twice.
    while let byte = literal.popFirst() {
      if byte == UInt8(ascii: "'"), literal.popFirst() != byte { break }
      words.append(byte)
    }
    return String(decoding: words, as: UTF8.self)
  }

  /// The names of the members, in one text that is equal, as Swift compares text, to that of an index which may have
  /// been taken for this one.
  private static func names(of spec: IndexSpec) -> String { IndexKeys.text(of: spec.paths) }

  static func all(on db: borrowing Connection) throws(SQLiteError) -> [IndexTable] {
    let statement = try db.prepare("SELECT number, collection, spec FROM indexes")
    var indexes: [IndexTable] = []
    while try statement.step() {
      guard let spec = try? IndexSpec(stored: statement.text(2) ?? "") else { continue }
      let table = Table(number: statement.int64(1))
      indexes.append(table.index(statement.int64(0), spec))
    }
    return indexes
  }

  /// Whether there are indexes for `renewOutdated`.
  static func hasOutdated(_ db: borrowing Connection) throws(SQLiteError) -> Bool {
    try !outdated(on: db).isEmpty
  }

  /// Makes the indexes anew whose keys are of other weights of characters than those of this version, or which other versions
  /// have written to. As `Storage.fill` does, so others may write meanwhile.
  static func renewOutdated(_ database: Database) throws(SQLiteError) {
    let made = try database.write { (db: borrowing Connection) throws(SQLiteError) in
      var made: [IndexTable] = []
      for (index, table) in try outdated(on: db) {
        made.append(try Storage.renew(index, of: table, on: db))
      }
      return made
    }
    for index in made {
      var isLast = false
      while !isLast {
        isLast = try database.write(durably: false) {
          (db: borrowing Connection) throws(SQLiteError) in
          try index.fill(FillPace.most, on: db)
        }
      }
    }
  }

  private static func outdated(
    on db: borrowing Connection
  ) throws(SQLiteError) -> [(index: IndexTable, table: Table)] {
    let statement = try db.prepare("SELECT number, collection, spec, shape FROM indexes")
    var found: [(index: IndexTable, table: Table)] = []
    while try statement.step() {
      guard let spec = try? IndexSpec(stored: statement.text(2) ?? ""),
        spec.isOutdated || statement.int64(3) == IndexShape.outdated.rawValue
      else { continue }
      let table = Table(number: statement.int64(1))
      found.append((table.index(statement.int64(0), spec), table))
    }
    return found
  }

  /// All at once: a process that dies meanwhile leaves the file as it was.
  ///
  /// Totals are kept by triggers, so these have to run. First all of them become those of this version: any other one is refused.
  private static func remake(
    on db: borrowing Connection, where isWrong: (IndexTable) -> Bool
  ) throws(SQLiteError) {
    let wrong = try all(on: db).filter(isWrong)
    guard !wrong.isEmpty else { return }
    try renewTriggers(db)
    try db.runningTriggers(StorageSchema.triggers) { () throws(SQLiteError) in
      for index in wrong {
        try db.execute(index.remake)
        while try !index.fill(FillPace.most, on: db) {}
      }
    }
  }
}
