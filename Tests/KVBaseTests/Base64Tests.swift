import Testing

@testable import KVBase

@Suite("Base64") struct Base64Tests {
  @Test(
    "is written and read as RFC 4648 shows it",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
      ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"), ("kid:ü>?", "a2lkOsO8Pj8="),
    ])
  func bothWays(text: String, encoded: String) {
    #expect(Base64.encode(text) == encoded)
    #expect(Base64.decode(encoded) == Array(text.utf8))
  }

  @Test("is read without its padding too") func withoutPadding() {
    #expect(Base64.decode("Zg") == Array("f".utf8))
  }

  @Test("is refused when it is none", arguments: ["Zm 9v", "Zm9v!", "Zg=x", "é"])
  func refused(text: String) { #expect(Base64.decode(text) == nil) }
}
