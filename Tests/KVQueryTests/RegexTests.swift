import KVBase
import Testing

@testable import KVQuery

@Suite("Regular expressions") struct RegexTests {
  @Test(
    "say which text they look for, if it is all that they do",
    arguments: [
      ("paint", "paint", false), ("^paint", "paint", true), (#"^a\.b\\"#, #"a.b\"#, true),
      ("é", "é", false), ("a b#", "a b#", false), (".*paint.*", "paint", false),
      (".*paint", "paint", false), ("paint.*", "paint", false), ("^paint.*", "paint", true),
      (#".*\.\*#.*"#, ".*#", false), (".*\\#.*", "#", false),
    ])
  func literalText(source: String, text: String, isPrefix: Bool) throws {
    let literal = try #require(try Pattern(source).literalText)
    #expect(literal == (text, isPrefix))
  }

  @Test(
    "say no such text of anything else",
    arguments: [
      "", "^", "a$", "a.b", "a|b", "a*", "[a]", "(a)", #"\d"#, "a^", "(?i)a", ".*", ".*.*", "^.*a",
      ".*?a", "a.*?", ".*a.*b", #"a\.*"#,
    ])
  func noLiteralText(source: String) throws {
    #expect(try Pattern(source).literalText == nil)
  }

  @Test("say no text where letters may be in another case") func literalTextIgnoringCase() throws {
    #expect(try Pattern("a", options: "i").literalText == nil)
  }

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
      (#"^[\d\-x]+$"#, "1-x"), ("(?i)[k]", "\u{212A}"),
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
      "(", ")", "[", "[b-a]", "*", "a**b(", "a{3,2}", "a{2000}", "a{2,2000}", #"\"#, #"\y"#, #"\1"#,
      #"\p{Foo}"#,
      "(?<a", "(?Z)", "[[:foo:]]", #"\C"#,
      #"\x{110000}"#, #"\ud800"#, "(?<a>.)(?<a>.)",
    ])
  func refused(pattern: String) {
    #expect(throws: RegexError.self) { try Regex(pattern) }
  }

  @Test(
    "of an error, the position is counted in characters",
    arguments: [
      ("a(", 2), ("é(", 2), (#"\u00e9\u00e9("#, 13), ("é{2000}", 1),
    ] as [(String, Int)])
  func position(pattern: String, position: Int) {
    #expect { try Regex(pattern) } throws: { ($0 as? RegexError)?.position == position }
  }

  @Test("are bounded in nesting, length, size and time") func bounded() throws {
    #expect(throws: RegexError.self) { try Regex(String(repeating: "(", count: 100_000)) }
    #expect(throws: RegexError.self) { try Regex(String(repeating: "a", count: 32_765)) }
    #expect(throws: RegexError.self) { try Regex("(?:(?:(?:a{1000}){1000}){1000}){1000}") }
    let text = String(repeating: "a", count: 40)
    for pattern in ["^(a+)+$", "^(a|aa)+$", "(.*)*(.*)*(.*)*[xy]"] {
      #expect(throws: QueryError.self) { try Regex(pattern).matches(text + "!") }
    }
  }

  @Test("of four megabytes are refused by their length, in every form")
  func tooLong() {
    let long = String(repeating: "(a", count: 2 << 20)
    #expect(throws: RegexError.self) { try Pattern(long) }
    #expect(throws: QueryError.self) { try Query(filter: #"{"a":{"$regex":"\#(long)"}}"#) }
    for operation in ["MATCHES", "LIKE", "LIKE[cd]"] {
      #expect(throws: QueryError.self) { try Query(format: "a \(operation) '\(long)'") }
    }
  }

  @Test(
    "look at long texts as long as that takes a time in proportion",
    arguments: [
      "a$", "[a-z]$", #"\ba+$"#, "(?i)A$", "^a+$", "^(?:a|b)", "a{10}$", "[^a]", #"a+(?=\z)"#,
    ])
  func longTexts(pattern: String) throws {
    let text = String(repeating: "a", count: 1 << 20)
    #expect(try Regex(pattern).matches(text) == (pattern != "[^a]"))
  }

  @Test(
    "give up what is quadratic in a long text",
    arguments: [
      "a+[cd]", "a++[cd]", "(?>a+)[cd]", "[a-z]*[a-z]*[0-9]", "(?:a(?=a*+b))*[cd]",
      #"^(a+)b.*?\1[cd]"#,
    ])
  func quadratic(pattern: String) throws {
    let long = String(repeating: "a", count: 200_000)
    #expect { try Regex(pattern).matches(long + "b" + long + "!") } throws: {
      ($0 as? QueryError)?.kind == .budget
    }
  }

  @Test("that run end when nobody waits for them any more") func abandoned() throws {
    let budget = WorkBudget(until: .never)
    budget.cancel()
    let text = String(repeating: "ab", count: 50_000)
    for pattern in ["[a-z]+[0-9]", "a.a.b", "A.a.B"] {
      #expect(throws: QueryError.exhausted) {
        try Regex(pattern, .ignoreCase).matches(text, within: budget)
      }
    }
  }

  @Test("find nothing in bytes that are not UTF-8") func invalidUTF8() throws {
    let bytes: [UInt8] = [0x61, 0xFF, 0x62, 0xE2, 0x82]
    for pattern in ["[ab]", ".", "[^x]"] {
      let regex = try Regex("(?=)" + pattern)
      #expect(try bytes.withUnsafeBufferPointer { try regex.matches($0) } == false)
    }
  }
}
