internal import CSQLite
internal import KVCrypto

/// The file of a database: the header of `FileHeader`, then the pages, each of which ends with its nonce and tag in bytes that
/// SQLite leaves free.
final class EncryptedPages: EncryptedFile {
  /// What SQLite must leave free at the end of each page.
  static let reservedPerPage = Cipher.overhead
  private static let pageSize = FileHeader.pageSize
  private static let bodySize = pageSize - reservedPerPage
  private static let start = Int64(FileHeader.reserved)

  private(set) var header: FileHeader
  /// What the keys of the log and of the journal are derived from.
  let dataKey: SecretBytes
  private let page = UnsafeMutableRawPointer.allocate(byteCount: pageSize, alignment: 8)
  private var ahead = ReadAhead()

  /// Reads the header of a file, and opens it with the keys of `vault`.
  static func open(_ real: RealFile, _ vault: Vault) throws(EncryptionError) -> EncryptedPages {
    let methods = real.pointee.pMethods.pointee
    let header = try readHeader { target in
      methods.xRead(real, target, Int32(FileHeader.reserved), 0)
    }
    return EncryptedPages(real, header, dataKey: try vault.dataKey(of: header))
  }

  private init(_ real: RealFile, _ header: FileHeader, dataKey: SecretBytes) {
    self.header = header
    self.dataKey = dataKey
    super.init(real, Cipher(dataKey, for: .pages), id: header.fileId)
  }

  deinit { page.deallocate() }

  /// The header of a file. `read` fills in the beginning of the file, and gives a status of SQLite.
  private static func readHeader(
    _ read: (UnsafeMutableRawPointer) -> Int32
  ) throws(EncryptionError) -> FileHeader {
    try FileHeader { target in
      let status = read(target)
      return status == SQLITE_OK || status == SQLiteStatus.shortRead
    }
  }

  override func read(
    _ target: UnsafeMutableRawPointer, count: Int, at offset: Int64
  ) -> Int32 {
    let start = Int(offset % Int64(Self.pageSize))
    guard count != Self.pageSize || start != 0 else { return readPage(target, at: offset) }
    guard start + count <= Self.pageSize else { return SQLiteStatus.readFailed }
    let status = readPage(page, at: offset - Int64(start))
    guard status == SQLITE_OK else {
      Self.clear(target, count: count)
      // SQLite looks at parts of the first page before it looks into the log, which may have it whole after a loss of power.
      return status == SQLITE_CORRUPT ? SQLiteStatus.shortRead : status
    }
    target.copyMemory(from: page + start, byteCount: count)
    return SQLITE_OK
  }

  private func readPage(_ target: UnsafeMutableRawPointer, at offset: Int64) -> Int32 {
    let status = ahead.read(target, count: Self.pageSize, at: offset + Self.start) {
      readReal($0, count: $1, at: $2)
    }
    guard status == SQLITE_OK else {
      Self.clear(target, count: Self.pageSize)
      return status
    }
    let tail = target + Self.bodySize
    guard
      open(target, count: Self.bodySize, to: target, nonce: tail, number: Self.number(at: offset))
    else {
      // The system has not written what SQLite has never written: a free page, which has no content.
      return isUnwritten(at: offset, target) ? SQLITE_OK : SQLITE_CORRUPT
    }
    Self.clear(tail, count: Self.reservedPerPage)
    return SQLITE_OK
  }

  /// Whether the real page has only zeros; `target` has them then.
  private func isUnwritten(at offset: Int64, _ target: UnsafeMutableRawPointer) -> Bool {
    forget()
    guard readReal(target, count: Self.pageSize, at: offset + Self.start) == SQLITE_OK else {
      return false
    }
    return UnsafeRawBufferPointer(start: target, count: Self.pageSize).allSatisfy { $0 == 0 }
  }

  override func write(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
    guard count == Self.pageSize, offset % Int64(Self.pageSize) == 0,
      Self.leavesRoom(source)
    else { return SQLiteStatus.writeFailed }
    forget()
    seal(
      source, count: Self.bodySize, to: page, nonce: page + Self.bodySize,
      number: Self.number(at: offset))
    return writeReal(page, count: Self.pageSize, at: offset + Self.start)
  }

  /// Whether SQLite has left the end of a page free. Else its bytes would be lost.
  static func leavesRoom(_ page: UnsafeRawPointer) -> Bool {
    UnsafeRawBufferPointer(start: page + bodySize, count: reservedPerPage).allSatisfy { $0 == 0 }
  }

  override func truncate(to size: Int64) -> Int32 {
    forget()
    return truncateReal(to: size + Self.start)
  }

  override func forget() { ahead.forget() }

  override func size(_ size: inout Int64) -> Int32 {
    let status = sizeOfReal(&size)
    size = max(0, size - Self.start)
    return status
  }

  override func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    switch operation {
    case SQLITE_FCNTL_SIZE_HINT:
      guard let argument else { return SQLITE_MISUSE }
      var size = argument.load(as: Int64.self) + Self.start
      return super.control(operation, &size)
    case KV_SQLITE_FCNTL_HEADER:
      guard let argument else { return SQLITE_MISUSE }
      return change(argument.load(as: Unmanaged<HeaderChange>.self).takeUnretainedValue())
    default:
      return super.control(operation, argument)
    }
  }

  private static func number(at offset: Int64) -> UInt64 { UInt64(offset / Int64(pageSize)) + 1 }

  // MARK: Keys

  /// What is to become of the header of a file.
  final class HeaderChange {
    /// Gives the header that is written; nil: nothing is.
    let change: (FileHeader) throws(EncryptionError) -> FileHeader?
    var error: EncryptionError?
    init(_ change: @escaping (FileHeader) throws(EncryptionError) -> FileHeader?) {
      self.change = change
    }
  }

  /// Reads the header, which another process may have changed, and writes what it becomes: one copy after the other, so that one of
  /// them is whole at every moment, and in the end none has the former keys.
  private func change(_ change: HeaderChange) -> Int32 {
    let copy: [UInt8]
    do throws(EncryptionError) {
      header = try Self.readHeader { target in
        readReal(target, count: FileHeader.reserved, at: 0)
      }
      guard let changed = try change.change(header) else { return SQLITE_OK }
      header = changed
      copy = header.serialised
    } catch {
      change.error = error
      return SQLITE_ERROR
    }
    for index in [1, 0] {
      let offset = Int64(index * FileHeader.size)
      var status = writeReal(copy, count: FileHeader.size, at: offset)
      if status == SQLITE_OK { status = synchroniseReal() }
      guard status == SQLITE_OK else { return status }
    }
    return SQLITE_OK
  }
}
