internal import Glibc
internal import KVServerCore
internal import KVServerSQLite

/// The directory that a server keeps its data in, and the lock that keeps a second server out of it.
struct ServerDirectory: ~Copyable {
  let path: String
  private let lock: Int32
  private let isNew: Bool

  /// Makes the directory with mode 0700 if it is missing, and locks it.
  init(_ path: String) throws(Server.Failure) {
    let isNew = try Self.make(path)
    let lock = try Self.lock(path)
    (self.path, self.lock, self.isNew) = (path, lock, isNew)
  }

  /// Makes the directory, unless it exists; true: it did not. One that all users can write to is refused.
  @discardableResult
  static func make(_ path: String) throws(Server.Failure) -> Bool {
    if mkdir(path, 0o700) == 0 { return true }
    guard errno == EEXIST else { throw failure("make", path) }
    do throws(FileTrust.Failure) {
      try FileTrust.checkDirectory(path)
      let database = SQLiteStore.file(in: path)
      for suffix in ["", "-wal", "-shm", "-journal"] { try FileTrust.checkFile(database + suffix) }
    } catch {
      throw Server.Failure(error.description)
    }
    return false
  }

  private static func file(in path: String) -> String { path + "/kvstored.lock" }

  private static func lock(_ path: String) throws(Server.Failure) -> Int32 {
    let file = file(in: path)
    while true {
      let descriptor = open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw failure("write", file) }
      // The lock goes with the process, however that ends; the file stays.
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        var failure = Server.Failure("\(path) is in use by another kvstored")
        failure.isInUse = true
        throw failure
      }
      // The former holder of the lock may have removed the file: then it locks out no other process.
      if isLinked(descriptor) { return descriptor }
      close(descriptor)
    }
  }

  private static func isLinked(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  deinit { close(lock) }

  /// Removes the lock, and the directory if it was made for it and nothing else is in it. The value must not be used for
  /// anything else afterwards.
  func discard() {
    unlink(Self.file(in: path))
    if isNew { rmdir(path) }
  }

  /// Lets another server in. The value must not be used for anything else afterwards.
  func unlock() { flock(lock, LOCK_UN) }

  private static func failure(_ verb: String, _ path: String) -> Server.Failure {
    Server.Failure("cannot \(verb) \(path): \(String(cString: strerror(errno)))")
  }
}
