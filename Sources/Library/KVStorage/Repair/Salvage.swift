internal import Glibc
internal import KVBase
package import KVCrypto
package import KVJSON
internal import KVSQLite
package import KVSync

/// Copies what can be read of a tag's file, however damaged it is, into files of JSON lines. Nothing is written to the file
/// itself.
///
/// What cannot be had anywhere else comes first: `pending.ndjson` has a line `{"collection":…,"id":…,"operation":…,
/// "entity":…,"base":…}` for each pending write. Then each collection gets a file with an entity a line. Of an encrypted file the
/// copies are encrypted too, with the same keys: see `SalvagedFile`.
package struct Salvage {
  private let database: DamagedDatabase
  private let directory: String
  /// Encrypts the copies; nil: they are plain.
  private let vault: Vault?

  /// Gives `{"pending":{"lines":…,"damaged":…},"collections":{"<name>":{"file":…,"lines":…,"damaged":…}}}`; `damaged` counts
  /// the parts of the file that could not be read and the entities that are not what was stored, whose ids are in `damagedIds`.
  ///
  /// `.notFound` if there is no such file; `.corrupt` if not even its list of tables can be read; `.invalid` if the
  /// directory is not empty.
  package static func run(
    _ file: String, with vault: Vault? = nil, into directory: String
  ) throws(StoreError) -> JSONObject {
    guard access(file, F_OK) == 0 else {
      throw StoreError(.notFound, "The file \(file) does not exist.")
    }
    try makeEmpty(directory)
    do throws(SQLiteError) {
      let database = try DamagedDatabase(path: file, with: vault)
      return try Salvage(database: database, directory: directory, vault: vault).run()
    } catch {
      throw StoreError(error)
    }
  }

  private static func makeEmpty(_ directory: String) throws(StoreError) {
    if mkdir(directory, 0o700) != 0, errno != EEXIST {
      throw StoreError(.storage, "Cannot create \(directory): \(String(cString: strerror(errno))).")
    }
    // An empty directory can be removed, and only such a one.
    guard rmdir(directory) == 0, mkdir(directory, 0o700) == 0 else {
      throw StoreError(.invalid, "\(directory) is not empty.")
    }
  }

  private func run() throws(SQLiteError) -> JSONObject {
    let tables = database.rows(
      of: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'e[0-9]*'"
    ) { $0.text(0) ?? "" }
    guard let tables else { throw SQLiteError(.corrupt, "The list of tables cannot be read.") }
    let names = collections()
    var report = JSONObject()
    report["pending"] = .object(try savePending(names))
    var collections = JSONObject()
    for table in tables {
      guard let number = Int64(table.dropFirst()) else { continue }
      let name = names[number] ?? table
      collections.members.append(.init(name, .object(try saveEntities(of: table, name))))
    }
    report["collections"] = .object(collections)
    return report
  }

  /// The names of the collections, as far as they can be read.
  private func collections() -> [Int64: String] {
    var names: [Int64: String] = [:]
    _ = database.salvage("name", from: "collections", key: "number") { row in
      names[row.int64(0)] = row.text(1)
    }
    return names
  }

  private func savePending(_ names: [Int64: String]) throws(SQLiteError) -> JSONObject {
    try save("pending.ndjson") { lines in
      let base = columns("base", of: "pending")
      return database.salvage("collection, id, operation, \(base)", from: "pending", key: "n") {
        row in
        let (collection, id) = (row.int64(1), row.text(2) ?? "")
        let operation = PendingWrite.Operation(number: row.int64(3))
        let entity = operation == .delete ? nil : entity(id, of: collection)
        let base = row.isNull(4) ? nil : Self.entity(row, at: 4)
        var line = JSONObjectWriter()
        line.add("collection", .string(names[collection] ?? "e\(collection)"))
        line.add("id", .string(id))
        line.add("operation", .string(operation.effect(isNewThere: row.isNull(4)).rawValue))
        line.add("entity", json: entity ?? JSONValue.null.bytes)
        line.add("base", json: base ?? JSONValue.null.bytes)
        lines.add(line.bytes)
        if operation != .delete, entity == nil { lines.addDamaged(id) }
      }
    }
  }

  /// An entity by its id: by the index, or, if that is damaged, by looking at all.
  private func entity(_ id: String, of collection: Int64) -> [UInt8]? {
    let quoted = id.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "''")
    for column in ["id", "+id"] {
      let found = database.rows(
        of:
          "SELECT \(columns("body", of: "e\(collection)")) FROM e\(collection) WHERE \(column) = '\(quoted)' LIMIT 1"
      ) { Self.entity($0, at: 0) }
      if let body = found?.first ?? nil { return body }
    }
    return nil
  }

  private func saveEntities(of table: String, _ name: String) throws(SQLiteError) -> JSONObject {
    let file = "\(DataDirectory.safe(name)).entities.ndjson"
    return try save(file) { lines in
      database.salvage("\(columns("body", of: table)), id", from: table, key: "n") { row in
        if let body = Self.entity(row, at: 1) {
          lines.add(body)
        } else {
          lines.addDamaged(row.text(3))
        }
      }
    }
  }

  /// A column of bodies and that of their checksums; files of before have none.
  private func columns(_ body: String, of table: String) -> String {
    let checksum = body == "body" ? "checksum" : "\(body)_checksum"
    let found = database.rows(
      of: "SELECT 1 FROM pragma_table_info('\(table)') WHERE name = '\(checksum)'"
    ) { _ in true }
    return "\(body), \(found?.first == true ? checksum : "NULL")"
  }

  /// The entity of such columns; nil if it is damaged.
  private static func entity(_ row: borrowing Statement, at column: Int32) -> [UInt8]? {
    let body = [UInt8](row.bytes(column))
    return row.isIntact(column) && isEntity(body) ? body : nil
  }

  private static func isEntity(_ body: [UInt8]) -> Bool {
    (try? EntityScanner.outline(of: body)) != nil
  }

  /// Writes one file; `body` returns how many parts of the file could not be read.
  private func save(
    _ name: String, _ body: (LineFile) -> Int
  ) throws(SQLiteError) -> JSONObject {
    let file = vault == nil ? name : name + SalvagedFile.encryptedSuffix
    let lines = try LineFile("\(directory)/\(file)", encryptedBy: vault)
    lines.damaged += body(lines)
    try lines.close()
    return JSONObject([
      .init("lines", .int(Int64(lines.count))),
      .init("damaged", .int(Int64(lines.damaged))),
      .init("damagedIds", .array(lines.damagedIDs.map { .string($0) })),
      .init("file", .string(file)),
    ])
  }
}

/// A file of lines under way. An error is kept until the file is closed.
private final class LineFile {
  private let path: String
  private let file: UnsafeMutablePointer<FILE>
  /// Nil: the lines are plain.
  private let sealing: SealedText?
  /// What has not filled a block yet.
  private var waiting: [UInt8] = []
  private var isWhole = true
  private(set) var count = 0
  var damaged = 0
  /// The first of those that have an id.
  private(set) var damagedIDs: [String] = []

  init(_ path: String, encryptedBy vault: Vault?) throws(SQLiteError) {
    var header: FileHeader?
    do throws(EncryptionError) {
      header = try vault?.newHeader()
      sealing =
        if let vault, let header { try SealedText(header, with: vault) } else { nil }
    } catch {
      throw SQLiteError(error)
    }
    // For its owner only, as the data that it comes from.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path) }
    guard let file = fdopen(descriptor, "w") else {
      Glibc.close(descriptor)
      throw Self.failure(path)
    }
    (self.path, self.file) = (path, file)
    if let header { put(header.serialised + header.serialised) }
  }

  func add(_ line: [UInt8]) {
    // A line break inside of a stored body is white space.
    let line = line.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? 0x20 : $0 }
    write(line + [0x0A])
    count += 1
  }

  /// Counts an entity that is left out, and keeps the ids of the first 1,000.
  func addDamaged(_ id: String?) {
    damaged += 1
    if let id, damagedIDs.count < 1000 { damagedIDs.append(id) }
  }

  func close() throws(SQLiteError) {
    // The last block is not full, which tells that nothing is missing.
    if let sealing { put(sealing.seal(waiting[...])) }
    isWhole = fflush(file) == 0 && fsync(fileno(file)) == 0 && isWhole
    guard fclose(file) == 0, isWhole else { throw Self.failure(path) }
  }

  private func write(_ bytes: [UInt8]) {
    guard let sealing else { return put(bytes) }
    waiting += bytes
    var start = 0
    while waiting.count - start >= SealedText.blockSize {
      put(sealing.seal(waiting[start..<start + SealedText.blockSize]))
      start += SealedText.blockSize
    }
    waiting.removeFirst(start)
  }

  private func put(_ bytes: [UInt8]) {
    isWhole = isWhole && fwrite(bytes, 1, bytes.count, file) == bytes.count
  }

  private static func failure(_ path: String) -> SQLiteError {
    let reason = strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
    return SQLiteError(errno == ENOSPC ? .full : .io, "Cannot write \(path): \(reason).")
  }
}
