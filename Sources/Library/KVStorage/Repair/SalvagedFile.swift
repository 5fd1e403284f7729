internal import Glibc
internal import KVBase
package import KVCrypto
internal import KVSQLite
package import KVSync

/// An encrypted file of lines that `Salvage` has written.
package enum SalvagedFile {
  /// What follows the name that it would have if it were plain.
  static let encryptedSuffix = ".encrypted"

  /// Writes the plain content of a file to a descriptor, which stays open.
  ///
  /// Throws `.notFound` if there is no such file, `.key` if the vault does not open it, and `.corrupt` if a part of it is damaged or
  /// its end is missing: what is before that was written.
  package static func decrypt(
    _ path: String, with vault: Vault, to descriptor: Int32
  ) throws(StoreError) {
    guard let file = fopen(path, "re") else {
      throw StoreError(errno == ENOENT ? .notFound : .storage, failure("read", path))
    }
    defer { fclose(file) }
    let text: SealedText
    do throws(EncryptionError) {
      text = try SealedText(try header(of: file), with: vault)
    } catch {
      throw StoreError(SQLiteError(error))
    }
    var sealed = [UInt8](repeating: 0, count: SealedText.sealedBlockSize)
    while true {
      let count = fread(&sealed, 1, sealed.count, file)
      guard ferror(file) == 0 else { throw StoreError(.storage, failure("read", path)) }
      guard let block = text.open(sealed[..<count]) else {
        throw StoreError(.corrupt, "The file \(path) is damaged, or its end is missing.")
      }
      try write(block, to: descriptor)
      if count < sealed.count { return }
    }
  }

  private static func header(
    of file: UnsafeMutablePointer<FILE>
  ) throws(EncryptionError) -> FileHeader {
    let start = UnsafeMutableRawPointer.allocate(byteCount: FileHeader.reserved, alignment: 8)
    defer { start.deallocate() }
    start.initializeMemory(as: UInt8.self, repeating: 0, count: FileHeader.reserved)
    _ = fread(start, 1, FileHeader.reserved, file)
    return try FileHeader(
      reading: UnsafeRawBufferPointer(start: start, count: FileHeader.reserved))
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(StoreError) {
    var left = bytes[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 || errno == EINTR else {
        throw StoreError(
          errno == ENOSPC || errno == EDQUOT ? .full : .storage, failure("write", "the copy"))
      }
      left = left.dropFirst(max(0, count))
    }
  }

  private static func failure(_ verb: String, _ path: String) -> String {
    let number = errno
    let reason = strerror(number).map { String(cString: $0) } ?? "error \(number)"
    return "Cannot \(verb) \(path): \(reason)."
  }
}
