internal import Glibc
internal import KVBase

/// Small text files.
package enum TextFile {
  package struct Failure: Error, CustomStringConvertible {
    package var description: String
  }

  /// More than any configuration or key needs.
  private static let maxBytes = 1 << 20

  /// Reads a file that the administrator has named; links are followed, and pipes waited for.
  package static func read(_ path: String) throws(Failure) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("read", path) }
    defer { close(descriptor) }
    return try read(descriptor, path)
  }

  /// Reads a file that the server has written itself, if only its owner can have written it: see `FileTrust`.
  /// `isSecret`: other users must not be able to read it either.
  package static func readOwn(_ path: String, isSecret: Bool) throws(Failure) -> String {
    let descriptor = try openTrusted(path, O_RDONLY, to: "read", isSecret: isSecret)
    defer { close(descriptor) }
    return try read(descriptor, path)
  }

  private static func read(_ descriptor: Int32, _ path: String) throws(Failure) -> String {
    var bytes = [UInt8](repeating: 0, count: maxBytes)
    var count = 0
    while count < bytes.count {
      let more = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count)
      }
      guard more >= 0 else { throw failure("read", path) }
      if more == 0 { break }
      count += more
    }
    guard let text = String(validating: bytes.prefix(count), as: UTF8.self) else {
      throw Failure(description: "\(path) is not UTF-8")
    }
    return text
  }

  /// Writes a new file that only its owner may read; it is complete or not there.
  package static func write(_ text: String, to path: String) throws(Failure) {
    try write(to: path) { _ in text }
  }

  /// The same for a text that says something of the new file, which has another path until it is complete.
  package static func write(to path: String, _ text: (_ draft: String) -> String) throws(Failure) {
    let draft = path + ".new"
    let descriptor = try create(draft)
    var text = text(draft)
    let written = text.withUTF8 { Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count }
    let synced = fsync(descriptor) == 0
    close(descriptor)
    guard written, synced, rename(draft, path) == 0,
      synchroniseNames(in: parentDirectory(of: path))
    else { throw failure("write", path) }
  }

  /// Makes a file that was not there, for its owner only, and opens it. What stands under that name is removed first: it may be a
  /// link of another user, or belong to them.
  package static func create(_ path: String) throws(Failure) -> Int32 {
    unlink(path)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("write", path) }
    return descriptor
  }

  /// Opens a file to add to it; makes it for its owner only if there is none. A link is not followed, and a file that other users can have
  /// written is refused: see `FileTrust`.
  static func openToAppend(_ path: String) throws(Failure) -> Int32 {
    try openTrusted(path, O_WRONLY | O_APPEND | O_CREAT, to: "write", isSecret: false)
  }

  /// Opens a file, and refuses a link, and what other users can have written or, if it is secret, read. `verb`: what for, in the
  /// words of an error.
  private static func openTrusted(
    _ path: String, _ flags: Int32, to verb: String, isSecret: Bool
  ) throws(Failure) -> Int32 {
    // Opening a pipe would wait for its other end.
    let descriptor = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      if errno == ELOOP { throw Failure(description: FileTrust.linkRefusal(path)) }
      throw failure(verb, path)
    }
    do throws(Failure) {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw failure(verb, path) }
      try FileTrust.check(status, path, isSecret: isSecret)
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func failure(_ verb: String, _ path: String) -> Failure {
    Failure(description: "cannot \(verb) \(path): \(String(cString: strerror(errno)))")
  }
}
