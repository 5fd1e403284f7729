import KVBase
import Testing

@Suite("Digests") struct DigestTests {
  @Test("SHA-1 and SHA-256 of the standard's examples")
  func vectors() {
    #expect(Digest.hex(Digest.sha1([])) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    #expect(
      Digest.hex(Digest.sha1(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(
      Digest.hex(Digest.sha256(Array("abc".utf8)))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    let long = Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
    #expect(
      Digest.hex(Digest.sha256(long))
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
  }

  @Test("HMAC of RFC 4231, with a key of a few bytes and one longer than a block")
  func hmac() {
    #expect(
      Digest.hex(
        Digest.hmacSHA256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    let text = "Test Using Larger Than Block-Size Key - Hash Key First"
    #expect(
      Digest.hex(
        Digest.hmacSHA256(Array(text.utf8), key: [UInt8](repeating: 0xAA, count: 131)))
        == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }
}
