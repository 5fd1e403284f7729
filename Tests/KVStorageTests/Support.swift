import KVCrypto
import KVJSON
import KVQuery
import KVSQLite
import KVStorage
import KVSync
import KVTestSupport

/// A store of its own in a directory of its own.
func openStorage(
  in directory: TemporaryDirectory, tag: String = "kinvey", form: Form = .plain,
  automaticIndexes: IndexLedger.Rules? = nil
) throws -> Storage {
  try DataDirectory(root: directory.path, appKey: "kid_test", vault: form.vault)
    .open(tag: tag, durability: .normal, automaticIndexes: automaticIndexes)
}

/// How the file of a test is stored.
enum Form: Sendable, CaseIterable {
  case plain
  /// With the key of 32 ones, as storage-saver does.
  case encrypted

  var vault: Vault? {
    guard self == .encrypted else { return nil }
    return Vault(
      .bytes(
        SecretBytes(count: 32) { $0.initializeMemory(as: UInt8.self, repeating: 1, count: 32) }))
  }

  /// What storage-saver is told.
  var words: [String] { self == .encrypted ? ["encrypted"] : [] }

  /// Whether a text that was stored is in no file where it must not be.
  func hides(_ text: String, in directory: TemporaryDirectory) -> Bool {
    self == .plain || directory.files(with: text).isEmpty
  }
}

func query(_ filter: String, _ modifiers: String? = nil) throws -> Query {
  try Query(filter: filter, modifiers: modifiers)
}

/// Runs SQL on the file of a closed store without the store's knowledge.
func tamper(_ sql: String, in directory: TemporaryDirectory) throws {
  let configuration = StorageSchema.configuration(
    DataDirectory(root: directory.path, appKey: "kid_test").file(tag: "kinvey"))
  let database = try Database(configuration, migrations: StorageMigrations.all)
  try database.write { (db: borrowing Connection) throws(SQLiteError) in try db.execute(sql) }
  database.close()
}

extension String {
  init(_ bytes: [UInt8]) { self.init(decoding: bytes, as: UTF8.self) }
}

/// The protocol's calls with texts instead of buffers.
extension LocalStore {
  @discardableResult
  func save(_ entities: String..., in collection: String = "c") throws -> [SavedEntity] {
    let array = Array("[\(entities.joined(separator: ","))]".utf8)
    let outlines = try EntityScanner.outlines(ofArray: array)
    return try array.withUnsafeBytes { try save($0, outlines, in: collection) }
  }

  @discardableResult
  func store(_ entities: String..., in collection: String = "c") throws -> Int {
    try store(entities, in: collection)
  }

  @discardableResult
  func store(_ entities: [String], in collection: String = "c") throws -> Int {
    let array = Array("[\(entities.joined(separator: ","))]".utf8)
    let outlines = try EntityScanner.outlines(ofArray: array)
    return try array.withUnsafeBytes { try store($0, outlines, in: collection) }
  }

  /// Stores entities of an answer that was asked for at a mark.
  func store(_ entities: String..., since mark: RefreshMark) throws -> ReplicaChange {
    let array = Array("[\(entities.joined(separator: ","))]".utf8)
    let outlines = try EntityScanner.outlines(ofArray: array)
    return try array.withUnsafeBytes { try store($0, outlines, in: "c", since: mark) }
  }

  func edit(_ entity: String, _ id: String, in collection: String = "c") throws -> Bool {
    let bytes = Array(entity.utf8)
    let outline = try EntityScanner.outline(of: bytes)
    return try bytes.withUnsafeBytes {
      try editPending($0, outline, id: id, known: nil, in: collection)
    }
  }

  func get(_ id: String, in collection: String = "c") throws -> String? {
    try entity(id, in: collection, writtenSince: nil).map { String($0) }
  }

  func find(
    _ filter: String = "{}", _ modifiers: String? = nil, in collection: String = "c"
  ) throws -> [String] {
    try find(query(filter, modifiers), in: collection)
  }

  func find(_ query: Query, in collection: String = "c") throws -> [String] {
    try drain(find(query, in: collection, writtenSince: nil))
  }

  func queue(in collection: String = "c") throws -> [PendingWrite] {
    try pending(in: collection, after: 0, limit: 1_000_000, onlyWaiting: false)
  }

  func write(_ id: String, in collection: String = "c") throws -> PendingWrite? {
    try pending(id, in: collection)?.write
  }

  func base(_ id: String, in collection: String = "c") throws -> String? {
    try pending(id, in: collection)?.base.map { String($0) }
  }

  /// Sends a pending write and has it accepted.
  func accept(_ id: String, _ stored: String?, in collection: String = "c") throws {
    guard let write = try write(id, in: collection) else { return }
    let sent = try beginSending([write])
    try confirm(sent.map { AcceptedWrite($0.write, stored: stored.map { Array($0.utf8) }) })
  }
}

func drain(_ cursor: any EntityCursor) throws -> [String] {
  var entities: [String] = []
  while let entity = try cursor.next({ String(decoding: $0, as: UTF8.self) }) {
    entities.append(entity)
  }
  return entities
}
