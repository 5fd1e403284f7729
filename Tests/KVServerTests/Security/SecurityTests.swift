import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("SHA-256") struct SHA256Tests {
  @Test(
    "gives the digests of FIPS 180-4",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func vectors(text: String, digest: String) { #expect(hexText(SHA256.hash(text.utf8)) == digest) }

  @Test("takes many blocks")
  func long() {
    let digest = hexText(SHA256.hash(repeatElement(UInt8(ascii: "a"), count: 1_000_000)))
    #expect(digest == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }
}

@Suite("Passwords") struct PasswordTests {
  private let hasher = PasswordHasher(cost: 1)

  @Test("match their own hash and no other")
  func matching() throws {
    let hash = try #require(hasher.hash("correct horse"))
    #expect(hash.hasPrefix("$y$"))
    #expect(PasswordHasher.matches("correct horse", hash))
    #expect(!PasswordHasher.matches("correct horsf", hash))
    #expect(!PasswordHasher.matches("", hash))
  }

  @Test("are hashed differently each time")
  func salt() { #expect(hasher.hash("x") != hasher.hash("x")) }

  @Test("that libcrypt cannot hash have no hash")
  func unusable() {
    #expect(hasher.hash("a\0b") == nil)
    #expect(hasher.hash(String(repeating: "x", count: 600)) == nil)
  }

  @Test("match no text that is not a hash", arguments: ["", "*0", "plain", "$y$broken"])
  func foreign(stored: String) { #expect(!PasswordHasher.matches("plain", stored)) }
}

@Suite("Secrets") struct SecretTests {
  @Test("are equal only to themselves")
  func equality() {
    #expect(isEqual("abc", "abc"))
    #expect(!isEqual("abc", "abd"))
    #expect(!isEqual("abc", "ab"))
    #expect(isEqual("", ""))
  }
}
