internal import CSQLite
internal import Glibc

/// Makes SQLite's reads or writes of the disk fail on the calling thread, and on no other.
///
/// SQLite lets the system calls of its file layer be replaced. Ours do the real thing, unless the thread that
/// calls has a fault of its own and its count has run out.
package struct DiskFault {
  private enum Operation { case read, write }

  private let operation: Operation
  private var left: Int
  private let number: Int32

  /// Runs `body`; after so many writes each further one fails with `error`, such as `ENOSPC`.
  package static func after<R>(_ writes: Int, with error: Int32, body: () throws -> R) rethrows -> R
  {
    try DiskFault(operation: .write, left: writes, number: error).run(body)
  }

  /// Runs `body`; after so many reads each further one fails with `error`, such as `EIO`.
  package static func afterReads<R>(
    _ reads: Int, with error: Int32, body: () throws -> R
  ) rethrows -> R {
    try DiskFault(operation: .read, left: reads, number: error).run(body)
  }

  private func run<R>(_ body: () throws -> R) rethrows -> R {
    let key = Self.key
    var fault = self
    return try withUnsafeMutablePointer(to: &fault) { fault in
      pthread_setspecific(key, fault)
      defer { pthread_setspecific(key, nil) }
      return try body()
    }
  }

  /// Where each thread keeps its fault; made together with the system calls that look there.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    replaceSystemCalls()
    return key
  }()

  private static func isDue(_ operation: Operation) -> Bool {
    guard let fault = pthread_getspecific(key)?.assumingMemoryBound(to: DiskFault.self),
      fault.pointee.operation == operation
    else { return false }
    fault.pointee.left -= 1
    guard fault.pointee.left < 0 else { return false }
    errno = fault.pointee.number
    return true
  }

  private static func replaceSystemCalls() {
    guard let system = sqlite3_vfs_find(nil), let set = system.pointee.xSetSystemCall else {
      return
    }
    let append: @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int = {
      DiskFault.isDue(.write) ? -1 : Glibc.write($0, $1, $2)
    }
    let writeAt: @convention(c) (Int32, UnsafeRawPointer?, Int, Int) -> Int = {
      DiskFault.isDue(.write) ? -1 : pwrite($0, $1, $2, $3)
    }
    let read: @convention(c) (Int32, UnsafeMutableRawPointer?, Int) -> Int = {
      DiskFault.isDue(.read) ? -1 : Glibc.read($0, $1, $2)
    }
    let readAt: @convention(c) (Int32, UnsafeMutableRawPointer?, Int, Int) -> Int = {
      DiskFault.isDue(.read) ? -1 : pread($0, $1, $2, $3)
    }
    _ = set(system, "read", unsafeBitCast(read, to: sqlite3_syscall_ptr.self))
    _ = set(system, "pread", unsafeBitCast(readAt, to: sqlite3_syscall_ptr.self))
    _ = set(system, "pread64", unsafeBitCast(readAt, to: sqlite3_syscall_ptr.self))
    _ = set(system, "write", unsafeBitCast(append, to: sqlite3_syscall_ptr.self))
    _ = set(system, "pwrite", unsafeBitCast(writeAt, to: sqlite3_syscall_ptr.self))
    _ = set(system, "pwrite64", unsafeBitCast(writeAt, to: sqlite3_syscall_ptr.self))
  }
}
