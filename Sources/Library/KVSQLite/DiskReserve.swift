internal import Glibc
internal import KVBase

/// Space that is kept for the moment when the disk is full, in a file beside the database: it lets what makes room,
/// such as a deletion, still be carried out. Safe from any thread, and from several processes.
///
/// It is only there while the disk is nearly full: elsewhere it would be waste.
struct DiskReserve: Sendable {
  private static let size: Int64 = 1 << 20
  private static let minimumSize: Int64 = 64 << 10

  private let path: String

  init(of database: String) { path = database + "-reserve" }

  /// Bytes that are free for us on a path's file system; nil if that is not known.
  static func freeSpace(at path: String) -> Int64? {
    var system = statvfs()
    guard statvfs(path, &system) == 0 else { return nil }
    let (bytes, overflow) = UInt64(system.f_bavail).multipliedReportingOverflow(
      by: UInt64(system.f_frsize))
    return overflow ? .max : Int64(clamping: bytes)
  }

  /// Takes the space, or as much as there is beyond `rest`, unless it is taken already.
  func allocate(leaving rest: Int64 = size) {
    guard access(path, F_OK) != 0 else { return }
    let size = min(Self.size, (Self.freeSpace(at: parentDirectory(of: path)) ?? 0) - rest)
    guard size >= Self.minimumSize else { return }
    let file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    let isTaken = posix_fallocate(file, 0, off_t(size)) == 0
    close(file)
    if !isTaken { unlink(path) }
  }

  /// Gives the space back; false if there is none.
  @discardableResult func release() -> Bool { unlink(path) == 0 }
}
