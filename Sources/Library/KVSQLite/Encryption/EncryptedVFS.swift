internal import CSQLite
internal import Glibc
internal import KVBase
internal import KVCrypto

/// The VFS through which SQLite opens encrypted databases, and everything that it writes beside them. It stands in front of
/// SQLite's own, and is used only for files that are opened with a vault.
///
/// The shared memory of the log's index is not encrypted: it has page numbers, and a checksum of the last frame.
enum EncryptedVFS {
  /// What a file is being opened with.
  final class Opening: Sendable {
    let vault: Vault
    fileprivate let failure = Monitor<EncryptionError?>(nil)

    init(_ vault: Vault) { self.vault = vault }

    /// Why the file could not be opened, if that was not SQLite's.
    var error: EncryptionError? { failure.withLock { $0 } }
  }

  private static let parameter = "kvvault"
  private static let name = "kvstore-encrypted"

  private struct Openings: Sendable {
    var last: Int64 = 0
    var running: [Int64: Opening] = [:]
  }

  private static let openings = Monitor(Openings())

  /// Runs `body` with the parameters of a URI by which SQLite opens a file with `opening`.
  static func with<R: ~Copyable>(
    _ opening: Opening, _ body: (String) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    guard isRegistered else { throw SQLiteError.noMemory }
    let number = openings.withLock { openings in
      openings.last += 1
      openings.running[openings.last] = opening
      return openings.last
    }
    defer { openings.withLock { _ = $0.running.removeValue(forKey: number) } }
    return try body("vfs=\(name)&\(parameter)=\(number)")
  }

  // MARK: Registering

  private static let isRegistered: Bool = register()

  private static func register() -> Bool {
    guard let real = sqlite3_vfs_find(nil), let text = strdup(name) else { return false }
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: real.pointee)
    vfs.pointee.pNext = nil
    vfs.pointee.zName = UnsafePointer(text)
    vfs.pointee.szOsFile += Int32(MemoryLayout<kv_sqlite_file>.size)
    vfs.pointee.xOpen = { _, name, file, flags, outFlags in
      guard let file else { return SQLITE_MISUSE }
      return EncryptedVFS.open(name, file, flags: flags, outFlags: outFlags)
    }
    return sqlite3_vfs_register(vfs, 0) == SQLITE_OK
  }

  private static func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, flags: Int32,
    outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    file.pointee.pMethods = nil
    guard let vfs = sqlite3_vfs_find(nil), let real = kv_sqlite_real_file(file) else {
      return SQLITE_CANTOPEN
    }
    real.pointee.pMethods = nil
    let status = vfs.pointee.xOpen(vfs, name, real, flags, outFlags)
    guard status == SQLITE_OK else {
      // SQLite closes what has methods, and only that.
      if real.pointee.pMethods != nil { _ = real.pointee.pMethods.pointee.xClose(real) }
      return status
    }
    guard let opened = encrypted(name, real, flags: flags) else {
      _ = real.pointee.pMethods.pointee.xClose(real)
      return SQLITE_CANTOPEN
    }
    let ours = UnsafeMutableRawPointer(file).assumingMemoryBound(to: kv_sqlite_file.self)
    ours.pointee.state = Unmanaged.passRetained(opened).toOpaque()
    file.pointee.pMethods = methods
    return SQLITE_OK
  }

  /// What a file is, by what SQLite opens it for.
  private static func encrypted(
    _ name: UnsafePointer<CChar>?, _ real: UnsafeMutablePointer<sqlite3_file>, flags: Int32
  ) -> EncryptedFile? {
    if flags & SQLITE_OPEN_MAIN_DB != 0 {
      let number = sqlite3_uri_int64(name, parameter, 0)
      guard let opening = openings.withLock({ $0.running[number] }) else { return nil }
      do throws(EncryptionError) {
        return try EncryptedPages.open(real, opening.vault)
      } catch {
        opening.failure.withLock { $0 = error }
        return nil
      }
    }
    if flags & SQLITE_OPEN_WAL != 0 {
      guard let pages = pages(of: name) else { return nil }
      return EncryptedLog(
        real, Cipher(pages.dataKey, for: .log), id: pages.header.fileId)
    }
    if flags & SQLITE_OPEN_MAIN_JOURNAL != 0 {
      guard let pages = pages(of: name) else { return nil }
      return EncryptedBlocks(journal: real, of: pages)
    }
    return EncryptedBlocks(temporary: real)
  }

  /// The database that a log or a journal belongs to.
  private static func pages(of name: UnsafePointer<CChar>?) -> EncryptedPages? {
    guard let name, let database = sqlite3_database_file_object(name) else { return nil }
    return state(of: database) as? EncryptedPages
  }

  // MARK: Methods

  private static func state(of file: UnsafeMutablePointer<sqlite3_file>) -> EncryptedFile? {
    guard file.pointee.pMethods == methods else { return nil }
    let ours = UnsafeMutableRawPointer(file).assumingMemoryBound(to: kv_sqlite_file.self)
    return ours.pointee.state.map {
      Unmanaged<EncryptedFile>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Runs `body` on one of our files.
  @inline(__always)
  private static func on(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ body: (EncryptedFile) -> Int32
  ) -> Int32 {
    guard let file else { return SQLITE_MISUSE }
    let ours = UnsafeMutableRawPointer(file).assumingMemoryBound(to: kv_sqlite_file.self)
    guard let state = ours.pointee.state else { return SQLITE_MISUSE }
    return Unmanaged<EncryptedFile>.fromOpaque(state)._withUnsafeGuaranteedRef { body($0) }
  }

  /// Forgets what was read ahead: a transaction may begin.
  private static func forget(_ file: UnsafeMutablePointer<sqlite3_file>?) {
    _ = on(file) {
      $0.forget()
      return SQLITE_OK
    }
  }

  /// Runs `body` on SQLite's own file behind one of ours, with its methods.
  @inline(__always)
  private static func onReal<R>(
    _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ body: (UnsafeMutablePointer<sqlite3_file>, UnsafePointer<sqlite3_io_methods>) -> R
  ) -> R? {
    guard let real = kv_sqlite_real_file(file), let methods = real.pointee.pMethods else {
      return nil
    }
    return body(real, methods)
  }

  /// `nonisolated(unsafe)`: they never change.
  nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
    var methods = sqlite3_io_methods()
    // The third version adds memory-mapped files, which would show what is encrypted.
    methods.iVersion = 2
    methods.xClose = { file in
      guard let file else { return SQLITE_MISUSE }
      let ours = UnsafeMutableRawPointer(file).assumingMemoryBound(to: kv_sqlite_file.self)
      if let state = ours.pointee.state { Unmanaged<EncryptedFile>.fromOpaque(state).release() }
      ours.pointee.state = nil
      return EncryptedVFS.onReal(file) { $1.pointee.xClose($0) } ?? SQLITE_OK
    }
    methods.xRead = { file, target, count, offset in
      guard let target else { return SQLITE_MISUSE }
      return EncryptedVFS.on(file) { $0.read(target, count: Int(count), at: offset) }
    }
    methods.xWrite = { file, source, count, offset in
      guard let source else { return SQLITE_MISUSE }
      return EncryptedVFS.on(file) { $0.write(source, count: Int(count), at: offset) }
    }
    methods.xTruncate = { file, size in EncryptedVFS.on(file) { $0.truncate(to: size) } }
    methods.xFileSize = { file, size in
      guard let size else { return SQLITE_MISUSE }
      return EncryptedVFS.on(file) { $0.size(&size.pointee) }
    }
    methods.xFileControl = { file, operation, argument in
      EncryptedVFS.on(file) { $0.control(operation, argument) }
    }
    methods.xSync = { file, flags in
      EncryptedVFS.onReal(file) { $1.pointee.xSync($0, flags) } ?? SQLITE_MISUSE
    }
    methods.xLock = { file, level in
      EncryptedVFS.forget(file)
      return EncryptedVFS.onReal(file) { $1.pointee.xLock($0, level) } ?? SQLITE_MISUSE
    }
    methods.xUnlock = { file, level in
      EncryptedVFS.onReal(file) { $1.pointee.xUnlock($0, level) } ?? SQLITE_MISUSE
    }
    methods.xCheckReservedLock = { file, isHeld in
      EncryptedVFS.onReal(file) { $1.pointee.xCheckReservedLock($0, isHeld) } ?? SQLITE_MISUSE
    }
    methods.xSectorSize = { file in EncryptedVFS.onReal(file) { $1.pointee.xSectorSize($0) } ?? 4096
    }
    methods.xDeviceCharacteristics = { file in
      let real = EncryptedVFS.onReal(file) { $1.pointee.xDeviceCharacteristics($0) } ?? 0
      // A page is not written in one piece as far as SQLite can rely on it, but a write harms nothing beside it: each
      // part is encrypted for itself.
      return real & (SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN | SQLITE_IOCAP_IMMUTABLE)
        | SQLITE_IOCAP_POWERSAFE_OVERWRITE
    }
    methods.xShmMap = { file, region, size, extends, memory in
      EncryptedVFS.onReal(file) { $1.pointee.xShmMap($0, region, size, extends, memory) }
        ?? SQLITE_MISUSE
    }
    methods.xShmLock = { file, offset, count, flags in
      if flags & SQLITE_SHM_LOCK != 0 { EncryptedVFS.forget(file) }
      return EncryptedVFS.onReal(file) { $1.pointee.xShmLock($0, offset, count, flags) }
        ?? SQLITE_MISUSE
    }
    methods.xShmBarrier = { file in EncryptedVFS.onReal(file) { $1.pointee.xShmBarrier($0) } }
    methods.xShmUnmap = { file, deletes in
      EncryptedVFS.onReal(file) { $1.pointee.xShmUnmap($0, deletes) } ?? SQLITE_MISUSE
    }
    let memory = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    memory.initialize(to: methods)
    return UnsafePointer(memory)
  }()
}
