import KVBase
import KVTestSupport
import Testing

@testable import KVQuery

@Suite("A search for literal text with wildcards") struct WildcardSearchTests {
  @Test(
    "is what most expressions need",
    arguments: [
      "", "abc", "^abc", "abc$", "^abc$", ".*cat.*", ".*cat", "cat.*", "^.*cat", "a.*b", "a.+b",
      "a.*?b", "x.z",
      "cat|dog", "(cat|dog)", "^(?:cat|dog)$(?!\\n)", "c(a|u)t", ".*z$(?!\\n)", #"^x\.y"#,
      #"\Aabc\z"#, #"a\Z"#,
      "a b#c]}", "é.ü",
    ])
  func isEnough(for pattern: String) {
    #expect(WildcardSearch(pattern, []) != nil)
    #expect(WildcardSearch(pattern, [.ignoreCase, .dotAll]) != nil)
  }

  @Test(
    "leaves the rest to PCRE2",
    arguments: [
      "a*", "ab+", "a?", "a{2}", "[ab]", #"\d"#, #"a\b"#, "(a)(b)", "(a|(b))", "(?i)a", "(?=a)",
      "(a)+", "a^b", "a$b",
      "x(a|b)|c", ".{3}", ".?", ".*+a", #"\Qa\E"#, #"\x41"#, "a\n.b", "(", "a)", "(*UCP)a", "^*",
    ])
  func isNotEnough(for pattern: String) {
    #expect(WildcardSearch(pattern, []) == nil)
  }

  @Test("is linear in long texts")
  func longTexts() throws {
    let text = Array(String(repeating: "ab cä", count: 60_000).utf8)
    let patterns = [
      ".*cat.*", "cat", "^cat", "cat$", "cat|dog|cow", "^(?:cat|dog)$(?!\\n)", ".*cat$(?!\\n)",
      "b.*c.*cat",
      "^ab.*cä.*x.*$(?!\\n)", "c.d",
    ]
    for pattern in patterns {
      for flags in [RegexFlags(), [.ignoreCase, .dotAll]] {
        let search = try #require(WildcardSearch(pattern, flags))
        let found = try text.withUnsafeBufferPointer { try search.matches($0, within: .unlimited) }
        #expect(!found, "\(pattern)")
      }
    }
  }

  /// Random expressions over few characters, and texts of the same.
  @Test("finds what PCRE2 finds") func agrees() throws {
    var random = Seed()
    let seed = random.description
    let parts = [
      "a", "b", "k", "K", "\u{212A}", "é", "É", "ß", "ı", "İ", "σ", "ς", "😀", ".", ".", ".*", ".*",
      ".+", ".*?", "|",
      "^", "$", "$(?!\\n)", "(", ")", "(?:", "\\n", "\n", "\\.", #"\A"#, #"\z"#, #"\Z"#,
    ]
    let letters = [
      "a", "b", "k", "K", "\u{212A}", "é", "É", "ẞ", "i", "I", "Σ", "σ", "😀", "\n", "\n", ".",
    ]
    var compared = 0
    for _ in 0..<20_000 {
      let pattern = (0..<Int.random(in: 0...7, using: &random)).map { _ in
        parts.randomElement(using: &random) ?? ""
      }.joined()
      let flags = RegexFlags(rawValue: UInt8.random(in: 0...7, using: &random))
      guard let search = WildcardSearch(pattern, flags) else { continue }
      let expression = try PCREExpression(pattern, flags)
      for _ in 0..<8 {
        let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in
          letters.randomElement(using: &random) ?? ""
        }.joined()
        let (found, expected) = try Array(text.utf8).withUnsafeBufferPointer {
          (
            try search.matches($0, within: .unlimited),
            try expression.matches($0, within: .unlimited)
          )
        }
        #expect(
          found == expected,
          "\(seed): \(pattern.debugDescription), flags \(flags.rawValue), in \(text.debugDescription)"
        )
        compared += 1
      }
    }
    #expect(compared > 10_000)
  }

  @Test("folds characters as PCRE2 does") func foldsAlike() throws {
    // What Unicode has got later than PCRE2 knows it.
    let unknown = try PCREExpression(#"^\p{Cn}$"#, [])
    var classes: [UInt32: [Unicode.Scalar]] = [:]
    for scalar in (UInt32(0)...0x1FFFF).compactMap(Unicode.Scalar.init) {
      classes[CaseFolding.folded(scalar.value), default: []].append(scalar)
    }
    for (_, members) in classes where members.count > 1 {
      for member in members {
        let expression = try PCREExpression(
          #"^\x{\#(String(member.value, radix: 16))}$"#, .ignoreCase)
        for other in members where try !matches(unknown, member) && !matches(unknown, other) {
          #expect(try matches(expression, other), "U+\(String(other.value, radix: 16))")
        }
      }
    }
  }

  private func matches(_ expression: PCREExpression, _ scalar: Unicode.Scalar) throws -> Bool {
    try Array(String(scalar).utf8).withUnsafeBufferPointer {
      try expression.matches($0, within: .unlimited)
    }
  }
}
