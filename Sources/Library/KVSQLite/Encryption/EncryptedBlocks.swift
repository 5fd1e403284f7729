internal import CSQLite
internal import KVCrypto

/// A file that is read and written anywhere: a temporary file, or the rollback journal, which a database has only until
/// its log begins.
///
/// Blocks of 4096 bytes are encrypted for themselves, each with its nonce and tag before it; the last one is as long as what it
/// has. A write to a part of a block writes the block anew.
final class EncryptedBlocks: EncryptedFile {
  private static let blockSize = 4096
  private static let realBlockSize = Int64(blockSize + Cipher.overhead)

  private let isJournal: Bool
  private var size: Int64
  /// The block that was read or written last, decrypted.
  private let block = UnsafeMutableRawPointer.allocate(byteCount: blockSize, alignment: 8)
  private var current: Int64 = -1
  private let sealed = UnsafeMutableRawPointer.allocate(
    byteCount: Int(realBlockSize), alignment: 8)

  /// A temporary file. Only this connection reads it, so its key is not kept.
  init(temporary real: RealFile) {
    isJournal = false
    size = 0
    let key = SecretBytes.random(count: ApplicationKey.size)
    super.init(real, Cipher(key, for: .temporary), id: [])
  }

  /// The journal of a database.
  init(journal real: RealFile, of pages: EncryptedPages) {
    isJournal = true
    size = 0
    super.init(real, Cipher(pages.dataKey, for: .journal), id: pages.header.fileId)
    var realSize: Int64 = 0
    guard sizeOfReal(&realSize) == SQLITE_OK else { return }
    let (blocks, rest) = realSize.quotientAndRemainder(dividingBy: Self.realBlockSize)
    size = blocks * Int64(Self.blockSize) + max(0, rest - Int64(Cipher.overhead))
  }

  deinit {
    block.deallocate()
    sealed.deallocate()
  }

  override func read(
    _ target: UnsafeMutableRawPointer, count: Int, at offset: Int64
  ) -> Int32 {
    let available = Int(max(0, min(Int64(count), size - offset)))
    var (to, left, offset) = (target, available, offset)
    while left > 0 {
      let start = Int(offset % Int64(Self.blockSize))
      let taken = min(left, Self.blockSize - start)
      let status = load(offset / Int64(Self.blockSize))
      guard status == SQLITE_OK else {
        Self.clear(to, count: left + count - available)
        return status
      }
      to.copyMemory(from: block + start, byteCount: taken)
      (to, left, offset) = (to + taken, left - taken, offset + Int64(taken))
    }
    guard available < count else { return SQLITE_OK }
    Self.clear(target + available, count: count - available)
    return SQLiteStatus.shortRead
  }

  override func write(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
    let gap = fill(to: offset)
    guard gap == SQLITE_OK else { return gap }
    var (from, left, offset) = (source, count, offset)
    while left > 0 {
      let start = Int(offset % Int64(Self.blockSize))
      let taken = min(left, Self.blockSize - start)
      let index = offset / Int64(Self.blockSize)
      if taken < Self.blockSize {
        let status = load(index)
        guard status == SQLITE_OK else { return status }
      }
      block.advanced(by: start).copyMemory(from: from, byteCount: taken)
      current = index
      let status = store(index, until: max(size, offset + Int64(taken)))
      guard status == SQLITE_OK else { return status }
      (from, left, offset) = (from + taken, left - taken, offset + Int64(taken))
    }
    return SQLITE_OK
  }

  override func truncate(to newSize: Int64) -> Int32 {
    guard newSize < size else { return fill(to: newSize) }
    let index = newSize / Int64(Self.blockSize)
    if newSize % Int64(Self.blockSize) > 0 {
      let status = load(index)
      guard status == SQLITE_OK else { return status }
    }
    size = newSize
    if current == index {
      let rest = Int(newSize % Int64(Self.blockSize))
      Self.clear(block + rest, count: Self.blockSize - rest)
    }
    guard newSize % Int64(Self.blockSize) > 0 else {
      current = -1
      return truncateReal(to: index * Self.realBlockSize)
    }
    let status = store(index, until: newSize)
    guard status == SQLITE_OK else { return status }
    return truncateReal(
      to: index * Self.realBlockSize + Int64(Cipher.overhead + length(of: index)))
  }

  override func size(_ size: inout Int64) -> Int32 {
    size = self.size
    return SQLITE_OK
  }

  /// Lets the file be as long as `offset` at least, with zeros.
  private func fill(to offset: Int64) -> Int32 {
    while size < offset {
      let index = size / Int64(Self.blockSize)
      let status = load(index)
      guard status == SQLITE_OK else { return status }
      let stored = store(index, until: min(offset, (index + 1) * Int64(Self.blockSize)))
      guard stored == SQLITE_OK else { return stored }
    }
    return SQLITE_OK
  }

  /// How many bytes a block has.
  private func length(of index: Int64) -> Int {
    Int(max(0, min(Int64(Self.blockSize), size - index * Int64(Self.blockSize))))
  }

  /// Makes a block the current one; what the file does not have of it is zeros.
  private func load(_ index: Int64) -> Int32 {
    guard current != index else { return SQLITE_OK }
    current = -1
    let length = length(of: index)
    Self.clear(block + length, count: Self.blockSize - length)
    if length > 0 {
      let status = readReal(
        sealed, count: Cipher.overhead + length, at: index * Self.realBlockSize)
      let isRead = status == SQLITE_OK
      guard isRead || (isJournal && status == SQLiteStatus.shortRead) else { return status }
      let isOurs =
        isRead
        && open(
          sealed + Cipher.overhead, count: length, to: block, nonce: sealed,
          number: UInt64(index))
      if !isOurs {
        // A journal ends where its writing was interrupted.
        guard isJournal else { return SQLITE_CORRUPT }
        Self.clear(block, count: length)
      }
    }
    current = index
    return SQLITE_OK
  }

  /// Writes the current block. `end`: the size of the file afterwards.
  private func store(_ index: Int64, until end: Int64) -> Int32 {
    size = end
    let length = length(of: index)
    seal(
      block, count: length, to: sealed + Cipher.overhead, nonce: sealed, number: UInt64(index))
    return writeReal(
      sealed, count: Cipher.overhead + length, at: index * Self.realBlockSize)
  }
}
