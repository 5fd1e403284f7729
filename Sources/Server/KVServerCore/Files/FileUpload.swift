internal import CGnuTLS
internal import Glibc
internal import KVBase

/// The bytes of a file on their way to the disk. No other request can send the same file meanwhile, on any server.
///
/// `@unchecked Sendable`: one worker after another fills it, then one ends it.
final class FileUpload: BodySink, @unchecked Sendable {
  private var descriptor: Int32
  /// How much has come.
  private(set) var position: Int

  /// Takes the open file over.
  init(_ descriptor: Int32, at position: Int) {
    self.descriptor = descriptor
    self.position = position
  }

  deinit { end() }

  func take(_ piece: UnsafeRawBufferPointer) -> Bool {
    var rest = piece
    while !rest.isEmpty {
      let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(position))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      position += count
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }

  /// Whether all that has come is on the disk.
  func synchronise() -> Bool { fsync(descriptor) == 0 }

  /// Lets other requests send the file.
  func end() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  /// The digest of all that has come, in lowercase hex digits.
  func sha256() throws(ServerError) -> String {
    var hash: gnutls_hash_hd_t?
    guard gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) == GNUTLS_E_SUCCESS, let hash else {
      throw ServerError(.internalErrorRetry, cause: "GnuTLS has no SHA-256")
    }
    var digest = [UInt8](repeating: 0, count: 32)
    defer { gnutls_hash_deinit(hash, nil) }
    var piece = [UInt8](repeating: 0, count: FileBytes.pieceBytes)
    var offset = 0
    while offset < position {
      let count = pread(descriptor, &piece, piece.count, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0, gnutls_hash(hash, piece, count) == GNUTLS_E_SUCCESS else {
        throw ServerError(.internalErrorRetry, cause: "an upload cannot be read")
      }
      offset += count
    }
    gnutls_hash_output(hash, &digest)
    return hexText(digest)
  }
}
