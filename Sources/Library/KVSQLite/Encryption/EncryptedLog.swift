internal import CSQLite
internal import KVCrypto

/// The write-ahead log of a database.
///
/// SQLite's log is a header of 32 bytes, then frames: a header of 24 bytes, and a page (sqlite.org/fileformat2.html, section 4).
/// Each of the three is encrypted for itself, because SQLite writes each for itself; nonce and tag of a header stand before it, those
/// of a page at its end. A frame's header has a checksum of the plain page, which would tell of it.
final class EncryptedLog: EncryptedFile {
  private static let headerSize = 32
  private static let frameHeaderSize = 24
  private static let pageSize = FileHeader.pageSize
  private static let bodySize = pageSize - EncryptedPages.reservedPerPage
  private static let frameSize = Int64(frameHeaderSize + pageSize)
  private static let realHeaderSize = Int64(Cipher.overhead + headerSize)
  private static let realFrameHeaderSize = Cipher.overhead + frameHeaderSize
  private static let realFrameSize = Int64(realFrameHeaderSize + pageSize)

  private let buffer = UnsafeMutableRawPointer.allocate(
    byteCount: Int(realFrameSize), alignment: 8)

  deinit { buffer.deallocate() }

  /// A part that is encrypted for itself.
  private enum Part {
    case header
    case frameHeader(Int64)
    case page(Int64)

    /// The part that the byte at an offset belongs to.
    init(at offset: Int64) {
      guard offset >= headerSize else { self = .header; return }
      let (frame, rest) = (offset - Int64(headerSize)).quotientAndRemainder(dividingBy: frameSize)
      self = rest < frameHeaderSize ? .frameHeader(frame) : .page(frame)
    }

    /// Where it begins for SQLite.
    var start: Int64 {
      switch self {
      case .header: 0
      case .frameHeader(let frame): Int64(headerSize) + frame * frameSize
      case .page(let frame): Int64(headerSize + frameHeaderSize) + frame * frameSize
      }
    }

    /// How many bytes it has for SQLite.
    var count: Int {
      switch self {
      case .header: headerSize
      case .frameHeader: frameHeaderSize
      case .page: pageSize
      }
    }

    /// Where it begins in the real file.
    var realStart: Int64 {
      switch self {
      case .header: 0
      case .frameHeader(let frame): realHeaderSize + frame * realFrameSize
      case .page(let frame):
        realHeaderSize + frame * realFrameSize + Int64(realFrameHeaderSize)
      }
    }

    /// How many bytes it has there.
    var realCount: Int { isPage ? count : count + Cipher.overhead }

    var isPage: Bool { if case .page = self { true } else { false } }

    /// Its number in the file.
    var number: UInt64 {
      switch self {
      case .header: 0
      case .frameHeader(let frame): UInt64(frame) * 2 + 1
      case .page(let frame): UInt64(frame) * 2 + 2
      }
    }
  }

  override func read(
    _ target: UnsafeMutableRawPointer, count: Int, at offset: Int64
  ) -> Int32 {
    var (target, left, offset) = (target, count, offset)
    // Recovery and the computing of checksums read whole frames, and find out themselves where the log ends.
    let findsEnd = count > Self.pageSize
    while left > 0 {
      let part = Part(at: offset)
      let skipped = Int(offset - part.start)
      let taken = min(left, part.count - skipped)
      let isWhole = taken == part.count
      let status = read(part, to: isWhole ? target : buffer)
      if status == SQLITE_CORRUPT, findsEnd || !part.isPage {
        Self.clear(target, count: taken)
      } else if status != SQLITE_OK {
        Self.clear(target, count: left)
        return status
      } else if !isWhole {
        target.copyMemory(from: buffer + skipped, byteCount: taken)
      }
      target += taken
      left -= taken
      offset += Int64(taken)
    }
    return SQLITE_OK
  }

  /// Reads a part and decrypts it. `target` has room for it, and may be the beginning of `buffer`.
  private func read(_ part: Part, to target: UnsafeMutableRawPointer) -> Int32 {
    let status: Int32
    let isOurs: Bool
    if part.isPage {
      status = readReal(target, count: Self.pageSize, at: part.realStart)
      guard status == SQLITE_OK else { return status }
      let tail = target + Self.bodySize
      isOurs = open(target, count: Self.bodySize, to: target, nonce: tail, number: part.number)
      if isOurs { Self.clear(tail, count: EncryptedPages.reservedPerPage) }
    } else {
      status = readReal(buffer, count: part.realCount, at: part.realStart)
      guard status == SQLITE_OK else { return status }
      let content = buffer + Cipher.overhead
      isOurs = open(content, count: part.count, to: content, nonce: buffer, number: part.number)
      if isOurs { target.copyMemory(from: content, byteCount: part.count) }
    }
    return isOurs ? SQLITE_OK : SQLITE_CORRUPT
  }

  override func write(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
    let part = Part(at: offset)
    guard offset == part.start, count == part.count else { return SQLiteStatus.writeFailed }
    if part.isPage {
      // The checksum of the frame covers these bytes, which are not kept: they are zeros when it is read.
      guard EncryptedPages.leavesRoom(source) else { return SQLiteStatus.writeFailed }
      seal(
        source, count: Self.bodySize, to: buffer, nonce: buffer + Self.bodySize,
        number: part.number)
    } else {
      seal(
        source, count: count, to: buffer + Cipher.overhead, nonce: buffer, number: part.number)
    }
    return writeReal(buffer, count: part.realCount, at: part.realStart)
  }

  override func truncate(to size: Int64) -> Int32 {
    guard size > 0 else { return truncateReal(to: 0) }
    // Down to whole parts.
    let part = Part(at: size - 1)
    return truncateReal(to: part.realStart + Int64(part.realCount))
  }

  override func size(_ size: inout Int64) -> Int32 {
    let status = sizeOfReal(&size)
    let frames = size - Self.realHeaderSize
    size =
      frames < 0 ? 0 : Int64(Self.headerSize) + frames / Self.realFrameSize * Self.frameSize
    return status
  }
}
