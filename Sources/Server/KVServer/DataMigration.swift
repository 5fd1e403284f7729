internal import Glibc
internal import KVCrypto
internal import KVServerAdmin
internal import KVServerCore
internal import KVServerPostgres
internal import KVServerSQLite

/// `kvstored admin migrate`: opens both ends.
enum DataMigration {
  /// Beside the database of a running server: a copy of it, from which its data is read.
  private static let copyName = "migration.copy"

  static func run(
    _ data: String, keyFile: String?, to address: String, terminal: AdminTerminal
  ) throws(AdminFailure) {
    let vault: Vault?
    do throws(Server.Failure) { vault = try EncryptionKeyFile.vault(keyFile) } catch {
      throw AdminFailure(.failed, error.description)
    }
    guard PostgresStore.isAddress(address) else {
      throw AdminFailure(.misuse, "--to needs the address of a database: postgres://…")
    }
    let file = SQLiteStore.file(in: data)
    guard access(file, F_OK) == 0 else { throw AdminFailure(.notFound, "there is no \(file)") }
    let lock = try lock(data)
    defer { lock?.unlock() }
    let copy = data + "/" + copyName
    discard(copy)
    defer { discard(copy) }
    if lock == nil { try make(copy, of: file, vault) }
    let source = try open(lock == nil ? copy : data, vault)
    defer { source.close() }
    let target: PostgresTransfer
    let reader = source.transfer()
    do { target = try PostgresTransfer(address, for: reader.epoch) } catch {
      throw AdminFailure(.failed, error.description)
    }
    defer { target.close() }
    try MigrateCommand.run(
      from: reader, to: target, isFinal: lock != nil, terminal: terminal)
  }

  /// Nil: a server uses the data.
  private static func lock(_ data: String) throws(AdminFailure) -> DirectoryLock? {
    do throws(Server.Failure) { return DirectoryLock(try ServerDirectory(data)) } catch {
      if error.isInUse { return nil }
      throw AdminFailure(.failed, error.description)
    }
  }

  private static func make(
    _ copy: String, of file: String, _ vault: Vault?
  ) throws(AdminFailure) {
    do {
      try ServerDirectory.make(copy)
      try SQLiteStore.copy(file, with: vault, to: SQLiteStore.file(in: copy))
    } catch {
      throw AdminFailure(.failed, "cannot copy the data: \(error)")
    }
  }

  private static func open(
    _ directory: String, _ vault: Vault?
  ) throws(AdminFailure) -> SQLiteStore {
    var settings = SQLiteStore.Settings()
    settings.vault = vault
    settings.isVisit = true
    do { return try SQLiteStore(in: directory, settings, log: Log(.error)) } catch {
      throw AdminFailure(.failed, error.description)
    }
  }

  /// Removes a copy with the files that belong to it.
  private static func discard(_ copy: String) {
    let file = SQLiteStore.file(in: copy)
    for name in [file, file + "-wal", file + "-shm", copy + "/kvstored.epoch"] { unlink(name) }
    rmdir(copy)
  }
}
