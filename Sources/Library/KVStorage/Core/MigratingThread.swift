internal import Glibc
package import KVSync

/// The threads that run the application's part of a migration. They hold the write lock of a file, so whatever they would
/// open or write might wait for themselves: that is refused.
package enum MigratingThread {
  /// Nil: there are no keys left in this process, and nothing is noticed.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  static func marked<R>(_ body: () -> R) -> R {
    guard let key else { return body() }
    pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
    defer { pthread_setspecific(key, nil) }
    return body()
  }

  /// Throws `.misuse` on such a thread.
  package static func refuse() throws(StoreError) {
    guard let key, pthread_getspecific(key) != nil else { return }
    throw StoreError(
      .misuse, "A migration handler cannot open or write local data: the migration has the lock.")
  }
}
