/// Encrypts a text that is written once, from front to back, or decrypts it: block by block, each of which is encrypted for itself.
/// docs/storage.md describes the format. One thread at a time.
///
/// All blocks but the last one are full, and the last one is not, though it may be empty: so a text that was cut is noticed.
package final class SealedText {
  /// Bytes of a full block.
  package static let blockSize = 4096
  /// Bytes that it has in the file.
  package static let sealedBlockSize = Cipher.overhead + blockSize

  private let cipher: Cipher
  private let id: [UInt8]
  private var nonces = Nonces()
  private var number: UInt64 = 0

  /// `header`: of the file that the text is in. Throws `.key` if the vault does not open it.
  package init(_ header: FileHeader, with vault: Vault) throws(EncryptionError) {
    cipher = Cipher(try vault.dataKey(of: header), for: .copies)
    id = header.fileId
  }

  /// Encrypts the next block.
  package func seal(_ block: ArraySlice<UInt8>) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: Cipher.overhead + block.count)
    let additional = nextAdditional()
    sealed.withUnsafeMutableBytes { sealed in
      block.withUnsafeBytes { block in
        additional.withUnsafeBytes { additional in
          guard let start = sealed.baseAddress else { return }
          nonces.next(to: start)
          let content = start + Cipher.overhead
          cipher.seal(
            block.baseAddress ?? UnsafeRawPointer(content), count: block.count, to: content,
            nonce: start, tag: start + Cipher.nonceSize, additional: additional)
        }
      }
    }
    return sealed
  }

  /// Decrypts the next block; nil: it is not what was encrypted there.
  package func open(_ sealed: ArraySlice<UInt8>) -> [UInt8]? {
    guard sealed.count >= Cipher.overhead else { return nil }
    let count = sealed.count - Cipher.overhead
    // One byte more, so that there is memory for an empty block.
    var block = [UInt8](repeating: 0, count: count + 1)
    let additional = nextAdditional()
    let isOurs = block.withUnsafeMutableBytes { block in
      sealed.withUnsafeBytes { sealed in
        additional.withUnsafeBytes { additional in
          guard let start = sealed.baseAddress, let target = block.baseAddress else { return false }
          return cipher.open(
            start + Cipher.overhead, count: count, to: target, nonce: start,
            tag: start + Cipher.nonceSize, additional: additional)
        }
      }
    }
    guard isOurs else { return nil }
    block.removeLast()
    return block
  }

  /// What the next block is bound to: the file's id, and the block's number.
  private func nextAdditional() -> [UInt8] {
    defer { number += 1 }
    return id + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }
}
