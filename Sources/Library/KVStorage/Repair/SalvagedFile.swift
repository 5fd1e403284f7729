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
      throw StoreError(errno == ENOENT ? .notFound : .storage, message("read", path, cause: errno))
    }
    defer { fclose(file) }
    let text: SealedText
    do throws(EncryptionError) {
      let header = try FileHeader { target in
        _ = fread(target, 1, FileHeader.reserved, file)
        return ferror(file) == 0
      }
      text = try SealedText(header, with: vault)
    } catch {
      throw StoreError(SQLiteError(error))
    }
    var sealed = [UInt8](repeating: 0, count: SealedText.sealedBlockSize)
    while true {
      let count = fread(&sealed, 1, sealed.count, file)
      guard ferror(file) == 0 else {
        throw StoreError(.storage, message("read", path, cause: errno))
      }
      guard let block = text.open(sealed[..<count]) else {
        throw StoreError(.corrupt, "The file \(path) is damaged, or its end is missing.")
      }
      let (_, cause) = writeWhole(block, to: descriptor)
      guard cause == 0 else {
        let isFull = cause == ENOSPC || cause == EDQUOT
        throw StoreError(isFull ? .full : .storage, message("write", "the copy", cause: cause))
      }
      if count < sealed.count { return }
    }
  }

  private static func message(_ verb: String, _ what: String, cause: Int32) -> String {
    "Cannot \(verb) \(what): \(String(cString: strerror(cause)))."
  }
}
