internal import CSQLite
internal import Glibc

/// Makes SQLite's writes to the disk fail on the calling thread, and on no other.
///
/// SQLite lets the system calls of its file layer be replaced. Ours do the real thing, unless the thread that
/// calls has a fault of its own and its count has run out.
package struct DiskFault {
  private var left: Int
  private let number: Int32

  /// Runs `body`; after so many writes each further one fails with `error`, such as `ENOSPC`.
  package static func after<R>(_ writes: Int, _ error: Int32, _ body: () throws -> R) rethrows -> R
  {
    let key = Self.key
    var fault = DiskFault(left: writes, number: error)
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

  private static func isDue() -> Bool {
    guard let fault = pthread_getspecific(key)?.assumingMemoryBound(to: DiskFault.self) else {
      return false
    }
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
      DiskFault.isDue() ? -1 : Glibc.write($0, $1, $2)
    }
    let place: @convention(c) (Int32, UnsafeRawPointer?, Int, Int) -> Int = {
      DiskFault.isDue() ? -1 : pwrite($0, $1, $2, $3)
    }
    _ = set(system, "write", unsafeBitCast(append, to: sqlite3_syscall_ptr.self))
    _ = set(system, "pwrite", unsafeBitCast(place, to: sqlite3_syscall_ptr.self))
    _ = set(system, "pwrite64", unsafeBitCast(place, to: sqlite3_syscall_ptr.self))
  }
}
