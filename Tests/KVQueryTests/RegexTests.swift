import Testing

@testable import KVQuery

@Suite("Regular expressions") struct RegexTests {
  @Test(
    "match",
    arguments: [
      ("", ""), ("a", "xax"), ("^a$", "a"), ("a|b|", "c"), ("^(a|b)*c$", "abac"),
      ("^a{2,3}$", "aaa"), ("a{,3}", "a{,3}"),
      ("^.$", "😀"), ("^[^a-c]+$", "xyz"), (#"^\d+\.\d{2}$"#, "12.50"), (#"\bfoo\b"#, "a foo b"),
      (#"^(\w+) \1$"#, "ab ab"),
      ("(?i)ÄB", "äb"), ("(?i:a)b", "Ab"), ("^a(?=b)", "ab"), ("a(?!b)", "ac"), ("(?<=a)b", "ab"),
      ("(?<!a)b", "cb"),
      ("(?>a+)b", "aab"), ("^a++b", "aab"), ("^a*?b", "aab"), ("[[:upper:]][]]", "A]"),
      (#"^\p{Lu}\p{L}+$"#, "Éa"),
      (#"\x41\x{1F600}\u00e9"#, "A😀é"), (#"^\Qa.b\E$"#, "a.b"), ("(?x) a b # c\n c", "abc"),
      ("(?m)^b$", "a\nb\nc"), ("(?s)a.b", "a\nb"),
      ("^a$", "a\n"), ("(?<n>a)\\k<n>", "aa"), ("^(?:a*)*$", "aaa"), ("^(a?)*b", "b"),
      (#"^[\d-x]+$"#, "1-x"), ("(?i)[k]", "\u{212A}"),
      ("(?#note)a", "a"), ("^(a)|b", "b"), (#"^[\w.+-]+@[\w-]+\.[a-z]{2,}$"#, "ann@example.org"),
    ] as [(String, String)])
  func match(pattern: String, text: String) throws {
    #expect(try Regex(pattern).matches(text))
  }

  @Test(
    "do not match",
    arguments: [
      ("a", ""), ("^a$", "ab"), (".", "\n"), ("^a{2}$", "a"), (#"^\d$"#, "x"), ("a(?=b)", "ac"),
      ("(?<=a)b", "cb"),
      ("(?>a+)ab", "aab"), ("^a++a", "aaa"), ("[^é]", "é"), (#"\Bfoo"#, "foo"), (#"a\z"#, "a\n"),
      ("(?i)a(?-i)b", "AB"),
    ] as [(String, String)])
  func doNotMatch(pattern: String, text: String) throws {
    #expect(try !Regex(pattern).matches(text))
  }

  @Test(
    "are refused when malformed",
    arguments: [
      "(", ")", "[", "[b-a]", "*", "a**b(", "a{3,2}", "a{2000}", #"\"#, #"\y"#, #"\1"#, #"\p{Foo}"#,
      "(?<a", "(?z)", "[[:foo:]]",
      #"\x{110000}"#, #"\ud800"#, "(?<a>.)(?<a>.)", "^*",
    ])
  func refused(pattern: String) {
    #expect(throws: RegexError.self) { try Regex(pattern) }
  }

  @Test("are bounded in nesting, size and time") func bounded() throws {
    #expect(throws: RegexError.self) { try Regex(String(repeating: "(", count: 100_000)) }
    #expect(throws: RegexError.self) { try Regex("(?:(?:(?:a{1000}){1000}){1000}){1000}") }
    #expect(throws: RegexError.self) { try Regex("(?:(?:(?:(?:){1000}){1000}){1000}){1000}") }
    #expect(throws: RegexError.self) { try Regex("a" + String(repeating: "{1}", count: 100_000)) }
    let text = String(repeating: "a", count: 40)
    for pattern in ["^(a+)+$", "^(a|aa)+$", "(.*)*(.*)*(.*)*x"] {
      #expect(throws: QueryError.self) { try Regex(pattern).matches(text + "!") }
    }
  }
}
