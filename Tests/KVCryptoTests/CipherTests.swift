@testable import KVCrypto
import Testing

@Suite("The cipher") struct CipherTests {
  private static func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private static func secret(_ bytes: [UInt8]) -> SecretBytes {
    bytes.withUnsafeBytes { SecretBytes(copying: $0) }
  }

  // draft-irtf-cfrg-xchacha-03, appendix A.3.1.
  @Test("gives the known answer of its specification") func knownAnswer() {
    let cipher = Cipher(
      raw: Self.secret(
        Self.bytes("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f")))
    let nonce = Self.bytes("404142434445464748494a4b4c4d4e4f5051525354555657")
    let additional = Self.bytes("50515253c0c1c2c3c4c5c6c7")
    let plain = Array(
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
        .utf8)
    var sealed = plain
    var tag = [UInt8](repeating: 0, count: Cipher.tagSize)
    additional.withUnsafeBytes { additional in
      cipher.seal(
        plain, count: plain.count, to: &sealed, nonce: nonce, tag: &tag, additional: additional)
    }
    #expect(tag == Self.bytes("c0875924c1c7987947deafd8780acf49"))
    #expect(sealed.starts(with: Self.bytes("bd6d179d3e83d43b9576579493c0e939")))
    var opened = [UInt8](repeating: 0, count: plain.count)
    let isOurs = additional.withUnsafeBytes { additional in
      cipher.open(
        sealed, count: sealed.count, to: &opened, nonce: nonce, tag: tag, additional: additional)
    }
    #expect(isOurs)
    #expect(opened == plain)
  }

  @Test("never uses a nonce twice in a million") func nonces() {
    var nonces = Nonces()
    var seen: Set<[UInt8]> = []
    seen.reserveCapacity(1_000_000)
    var nonce = [UInt8](repeating: 0, count: Cipher.nonceSize)
    for _ in 0..<1_000_000 {
      nonces.next(to: &nonce)
      seen.insert(nonce)
    }
    #expect(seen.count == 1_000_000)
  }

  // printf "correct horse" | argon2 0123456789abcdef -id -t 3 -k 65536 -p 1 -l 32 -r
  @Test("makes the key of a passphrase as Argon2id does elsewhere") func passphrase() throws {
    let key = try PassphraseCost(passes: 3, kibibytes: 65536)
      .key(of: Self.secret(Array("correct horse".utf8)), salt: Array("0123456789abcdef".utf8))
    #expect(
      key.withBytes { Array($0) }
        == Self.bytes("92599c67f23f1d9dce9b6f0cfb5a9b18ce110336de00799947472465edd9e49a"))
  }
}
