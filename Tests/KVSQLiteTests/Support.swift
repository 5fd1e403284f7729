import KVCrypto
import KVSQLite
import KVTestSupport

let applicationId: Int32 = 0x4B56_5431

/// One table of words; the second version has a count.
let migrations = [
  Database.Migration(
    sql: "CREATE TABLE words (n INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE)"),
  Database.Migration(sql: "ALTER TABLE words ADD COLUMN seen INTEGER NOT NULL DEFAULT 0"),
]

func open(
  _ path: String, migrations steps: [Database.Migration] = migrations,
  adjust: (inout Database.Configuration) -> Void = { _ in }
) throws(SQLiteError) -> Database {
  var configuration = Database.Configuration(path: path, applicationId: applicationId)
  configuration.durability = .normal
  adjust(&configuration)
  return try Database(configuration, migrations: steps)
}

extension Database {
  private static let insert = SQL("INSERT INTO words (word) VALUES (?)")

  static func insert(_ word: String, _ db: borrowing Connection) throws(SQLiteError) {
    let statement = try db.statement(insert)
    try statement.bind(word, at: 1)
    try statement.run()
  }

  func add(_ word: String) throws(SQLiteError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in try Self.insert(word, db) }
  }

  func words() throws(SQLiteError) -> [String] {
    let rows = try rows(of: "SELECT word FROM words ORDER BY word") { _ in }
    var words: [String] = []
    while let word = try rows.next({ $0.text(0) ?? "" }) { words.append(word) }
    return words
  }

  func integer(_ sql: String) throws(SQLiteError) -> Int64? {
    try withReader { (db: borrowing Connection) throws(SQLiteError) in try db.integer(sql) }
  }
}

extension Database {
  func text(_ sql: String) throws(SQLiteError) -> String? {
    try rows(of: sql) { _ in }.next { $0.text(0) } ?? nil
  }
}

// MARK: Encryption

/// A text that is looked for in files.
let marker = "marker-\(String(repeating: "x", count: 40))"

/// A key of one byte, 32 times.
func key(_ byte: UInt8) -> ApplicationKey {
  .bytes(SecretBytes(count: 32) { $0.initializeMemory(as: UInt8.self, repeating: byte, count: 32) })
}

/// How the file of a test is stored.
enum Form: Sendable, CaseIterable {
  case plain
  case encrypted

  func open(_ path: String) throws(SQLiteError) -> Database {
    try KVSQLiteTests.open(path) { $0.vault = self == .encrypted ? Vault(key(1)) : nil }
  }

  /// Whether the marker is in no file where it must not be.
  func hides(in directory: TemporaryDirectory) -> Bool {
    self == .plain || directory.files(with: marker).isEmpty
  }
}
