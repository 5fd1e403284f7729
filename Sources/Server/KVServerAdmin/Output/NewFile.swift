internal import Glibc
internal import KVBase
internal import KVServerCore

/// A file that appears under its name when it is complete and on the disk; or another place to write to. One thread at a
/// time.
final class NewFile {
  private static let bufferBytes = 1 << 18

  private let path: String?
  private let other: ([UInt8]) throws(AdminFailure) -> Void
  private var descriptor: Int32 = -1
  private var buffer: [UInt8] = []
  private var draft: String { (path ?? "") + ".new" }

  /// `path` nil: `other` takes the bytes. A file that exists is not replaced.
  init(_ path: String?, else other: @escaping ([UInt8]) throws(AdminFailure) -> Void)
    throws(AdminFailure)
  {
    self.path = path
    self.other = other
    guard let path else { return }
    var status = stat()
    guard lstat(path, &status) != 0 else { throw AdminFailure(.failed, "\(path) exists") }
    do { descriptor = try TextFile.create(draft) } catch {
      throw AdminFailure(.failed, error.description)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func write(_ bytes: [UInt8]) throws(AdminFailure) {
    buffer += bytes
    if buffer.count >= Self.bufferBytes { try flush() }
  }

  /// Gives the file its name.
  func finish() throws(AdminFailure) {
    try flush()
    guard let path else { return }
    guard fsync(descriptor) == 0, rename(draft, path) == 0,
      synchroniseNames(in: parentDirectory(of: path))
    else { throw failure() }
  }

  /// Removes what was written.
  func discard() { if path != nil { unlink(draft) } }

  private func flush() throws(AdminFailure) {
    defer { buffer = [] }
    guard path != nil else { return try other(buffer) }
    let (count, cause) = writeWhole(buffer, to: descriptor)
    guard count == buffer.count else { throw failure(cause) }
  }

  private func failure(_ cause: Int32 = errno) -> AdminFailure {
    AdminFailure(.failed, "cannot write \(draft): \(String(cString: strerror(cause)))")
  }
}
