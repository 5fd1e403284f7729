internal import CKVStore
internal import Glibc
internal import KVSync
internal import Synchronization

/// An error that C owns. Safe from any thread.
final class ErrorObject: HandleObject {
  static let kind = HandleKind.error

  private let error: StoreError
  private let texts = Mutex(Texts())

  /// C strings, made when they are first asked for: most errors are only looked at by their status.
  private struct Texts: ~Copyable {
    var message: CText?
    var json: CText?
  }

  init(_ error: StoreError) { self.error = error }

  var status: kv_status { error.kind.code }

  /// The text for `kv_error_message` or `kv_error_json`; valid as long as the object.
  var message: UnsafePointer<CChar>? {
    texts.withLock { texts in
      if texts.message == nil { texts.message = CText(error.message) }
      return texts.message?.start
    }
  }

  /// The text for `kv_error_message` or `kv_error_json`; valid as long as the object.
  var json: UnsafePointer<CChar>? {
    texts.withLock { texts in
      if texts.json == nil { texts.json = CText(error.json) }
      return texts.json?.start
    }
  }
}

/// A C string on the heap. A NUL inside the text would end it early; messages have none.
private struct CText: ~Copyable {
  private let copy: UnsafeMutablePointer<CChar>?

  init(_ text: String) { copy = strdup(text) }

  deinit { free(copy) }

  var start: UnsafePointer<CChar>? { UnsafePointer(copy) }
}
