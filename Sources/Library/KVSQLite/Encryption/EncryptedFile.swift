internal import CSQLite
internal import KVCrypto

/// A file that SQLite has open through `EncryptedVFS`: how its bytes are those of the real file. Methods give SQLite's result codes.
///
/// One thread at a time, as the connection that it belongs to.
class EncryptedFile {
  typealias RealFile = UnsafeMutablePointer<sqlite3_file>

  /// SQLite's own file. It lies in the memory that SQLite frees after closing.
  private let real: RealFile
  private let methods: sqlite3_io_methods
  private let cipher: Cipher
  private var nonces = Nonces()
  /// The file's id, then the number of what is encrypted.
  private let additional: UnsafeMutableRawPointer
  private static let additionalSize = 24
  private static let idSize = 16

  /// `id`: that of the file, or nothing where the key is used for one file only.
  init(_ real: RealFile, _ cipher: Cipher, id: [UInt8]) {
    self.real = real
    methods = real.pointee.pMethods.pointee
    self.cipher = cipher
    additional = .allocate(byteCount: Self.additionalSize, alignment: 8)
    additional.initializeMemory(as: UInt8.self, repeating: 0, count: Self.additionalSize)
    for (index, byte) in id.prefix(Self.idSize).enumerated() {
      additional.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
    }
  }

  deinit { additional.deallocate() }

  // MARK: What SQLite asks for, which each kind of file does in its own way

  func read(_ target: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int32 {
    SQLITE_MISUSE
  }

  func write(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
    SQLITE_MISUSE
  }

  func truncate(to size: Int64) -> Int32 {
    SQLITE_MISUSE
  }

  func size(_ size: inout Int64) -> Int32 {
    SQLITE_MISUSE
  }

  /// Called when a transaction begins: others may have changed the file since the last one.
  func forget() {}

  /// Does what an operation of `sqlite3_file_control` asks for.
  func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    methods.xFileControl(real, operation, argument)
  }

  // MARK: The real file

  final func readReal(_ target: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int32 {
    methods.xRead(real, target, Int32(count), offset)
  }

  final func writeReal(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
    methods.xWrite(real, source, Int32(count), offset)
  }

  final func truncateReal(to size: Int64) -> Int32 { methods.xTruncate(real, size) }

  final func sizeOfReal(_ size: inout Int64) -> Int32 { methods.xFileSize(real, &size) }

  final func synchroniseReal() -> Int32 { methods.xSync(real, SQLITE_SYNC_NORMAL) }

  // MARK: Encrypting

  /// Encrypts `count` bytes as number `number` of the file. `nonce` points to room for the nonce and, behind it, the tag.
  final func seal(
    _ plain: UnsafeRawPointer, count: Int, to sealed: UnsafeMutableRawPointer,
    nonce: UnsafeMutableRawPointer, number: UInt64
  ) {
    nonces.next(to: nonce)
    cipher.seal(
      plain, count: count, to: sealed, nonce: nonce, tag: nonce + Cipher.nonceSize,
      additional: additional(number))
  }

  /// Decrypts what `seal` made. False: it is something else, and `plain` means nothing.
  final func open(
    _ sealed: UnsafeRawPointer, count: Int, to plain: UnsafeMutableRawPointer,
    nonce: UnsafeRawPointer, number: UInt64
  ) -> Bool {
    cipher.open(
      sealed, count: count, to: plain, nonce: nonce, tag: nonce + Cipher.nonceSize,
      additional: additional(number))
  }

  private func additional(_ number: UInt64) -> UnsafeRawBufferPointer {
    additional.storeBytes(of: number.bigEndian, toByteOffset: Self.idSize, as: UInt64.self)
    return UnsafeRawBufferPointer(start: additional, count: Self.additionalSize)
  }

  /// Writes zeros to what was asked for, as SQLite expects where a file ends.
  static func clear(_ target: UnsafeMutableRawPointer, count: Int) {
    target.initializeMemory(as: UInt8.self, repeating: 0, count: count)
  }
}

/// Result codes that Swift does not import, because C computes them.
enum SQLiteStatus {
  static let readFailed = SQLITE_IOERR | 1 << 8
  /// The file ends before what was asked for.
  static let shortRead = SQLITE_IOERR | 2 << 8
  static let writeFailed = SQLITE_IOERR | 3 << 8
}
