internal import Glibc

/// A server's key and certificate chain as PEM texts, at addresses that C can keep.
final class TLSFiles: Sendable {
  /// A NUL-terminated copy that lives as long as its owner.
  ///
  /// `@unchecked Sendable`: nobody writes to it.
  final class Text: @unchecked Sendable {
    let base: UnsafeMutablePointer<CChar>?
    init(_ text: String) { base = strdup(text) }
    deinit { free(base) }
  }

  let key: Text
  let certificate: Text

  init(key: String, certificate: String) {
    self.key = Text(key)
    self.certificate = Text(certificate)
  }
}
