internal import Glibc
/// The directory that a server keeps its data in, and the lock that keeps a second server out of it.
struct ServerDirectory: ~Copyable {
  let path: String
  private let lock: Int32

  /// Makes the directory with mode 0700 if it is missing, and locks it.
  init(_ path: String) throws(Server.Failure) {
    lock = try Self.lock(path)
    self.path = path
  }

  /// Makes the directory, unless it exists.
  static func make(_ path: String) throws(Server.Failure) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("make", path) }
  }

  private static func lock(_ path: String) throws(Server.Failure) -> Int32 {
    try make(path)
    let file = path + "/kvstored.lock"
    let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("write", file) }
    // The lock goes with the process, however that ends; the file stays.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      var failure = Server.Failure("\(path) is in use by another kvstored")
      failure.isInUse = true
      throw failure
    }
    return descriptor
  }

  deinit { close(lock) }

  /// Lets another server in. The value must not be used for anything else afterwards.
  func unlock() { flock(lock, LOCK_UN) }

  private static func failure(_ verb: String, _ path: String) -> Server.Failure {
    Server.Failure("cannot \(verb) \(path): \(String(cString: strerror(errno)))")
  }
}
