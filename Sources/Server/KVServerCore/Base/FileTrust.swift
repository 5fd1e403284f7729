internal import Glibc
internal import KVBase

/// Whether a file or directory can be what the server has written: by its type, its owner, and who else may write to it.
///
/// The owner is the server's own user or root; for root, also the user whose directory the file is in. What the group may do is
/// the administrator's choice, what all others may do is not.
package enum FileTrust {
  package typealias Failure = TextFile.Failure

  /// Looks at a file without opening it; one that does not exist is fine.
  package static func checkFile(_ path: String, isSecret: Bool = false) throws(Failure) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    try check(status, path, isSecret: isSecret)
  }

  /// Looks at a directory. A link to one is followed.
  package static func checkDirectory(_ path: String) throws(Failure) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw Failure(description: "cannot read \(path): \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw Failure(description: "\(path) is not a directory")
    }
    let me = geteuid()
    guard me == 0 || status.st_uid == me || status.st_uid == 0 else {
      throw Failure(
        description: "\(path) belongs to user \(status.st_uid), who could replace its files")
    }
    guard status.st_mode & S_IWOTH == 0 else {
      throw Failure(
        description: "\(path) can be written by all users: change that with chmod o-w \(path)")
    }
  }

  package static func linkRefusal(_ path: String) -> String {
    "\(path) is a symbolic link, and was not followed"
  }

  static func check(_ status: stat, _ path: String, isSecret: Bool) throws(Failure) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFLNK: throw Failure(description: linkRefusal(path))
    default: throw Failure(description: "\(path) is not a regular file")
    }
    guard isTrusted(owner: status.st_uid, of: path) else {
      throw Failure(description: "\(path) belongs to user \(status.st_uid), and was not read")
    }
    guard status.st_mode & S_IWOTH == 0 else {
      throw Failure(
        description: "\(path) can be written by all users: change that with chmod o= \(path)")
    }
    guard !isSecret || status.st_mode & S_IROTH == 0 else {
      throw Failure(
        description:
          "\(path) has secrets that all users can read: change that with chmod o= \(path)")
    }
  }

  private static func isTrusted(owner: uid_t, of path: String) -> Bool {
    let me = geteuid()
    if owner == me || owner == 0 { return true }
    guard me == 0 else { return false }
    var status = stat()
    return stat(parentDirectory(of: path), &status) == 0 && status.st_uid == owner
  }
}
