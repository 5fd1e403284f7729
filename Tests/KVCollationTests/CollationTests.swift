import Glibc
import Testing

@testable import KVCollation

@Suite("Order by language") struct CollationTests {
  private static func ordered(
    _ texts: [String], _ locale: String, strength: Collation.Strength = .tertiary
  ) throws -> [String] {
    let collation = try #require(Collation(locale: locale, strength: strength))
    return texts.sorted { collation.orders($0, before: $1) }
  }

  @Test("the root's order is the one that Unicode's test data has") func conformance() throws {
    let collation = try #require(Collation(locale: "root"))
    var before: [UInt8] = []
    var distinct = 0
    let texts = try Self.conformanceTexts()
    for text in texts {
      let key = collation.key(of: text)
      #expect(!key.lexicographicallyPrecedes(before), "\(text.unicodeScalars.map(\.value))")
      if key != before { distinct += 1 }
      before = key
    }
    #expect(texts.count > 2000)
    #expect(distinct > 1500)
  }

  private static func conformanceTexts() throws -> [String] {
    let path = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    let file = try #require(fopen("/\(path)/root-order.txt", "r"))
    defer { fclose(file) }
    var texts: [String] = []
    var line = [CChar](repeating: 0, count: 1024)
    while fgets(&line, Int32(line.count), file) != nil {
      let bytes = line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:))
      guard bytes.first != UInt8(ascii: "#") else { continue }
      var text = String.UnicodeScalarView()
      for code in String(decoding: bytes, as: UTF8.self).split(separator: " ") {
        text.append(try #require(UInt32(code, radix: 16).flatMap(Unicode.Scalar.init)))
      }
      texts.append(String(text))
    }
    return texts
  }

  // As ICU 72 orders them.
  @Test(
    "languages have orders of their own",
    arguments: [
      ("root", "_ 1 a A á Å ä aa ae æ b ø oz ß st ü z"),
      ("de", "a ä Ä ae az b ß st z"),
      ("de@collation=phonebook", "a ad ae ä Ä af az b"),
      ("sv", "a o u v w y ü z å Å ä æ ö ø"),
      ("da", "A a AB ab y ü z Æ æ Ä ä Ø ø ö Å AA Aa å aa"),
      ("nb-NO", "a y ü z æ ä ø ö å aa"),
      ("fi", "a v w y ü z å ä ö"),
      ("es", "ch cz d l ll lz n nz ñ Ñ o"),
      ("es@traditional", "cz ch d lz ll m nz ñ o"),
      ("pl", "l lz ł m z ź ż"),
      ("cs", "c cz č d hz ch i r ř s š z ž"),
      ("et", "s š z ž t u v w õ ä ö ü x y"),
      ("tr", "c ç g ğ h ı I i İ j o ö s ş u ü"),
      ("hu", "c cz cs d o ö ő p u ü ű v"),
    ])
  func languages(locale: String, written: String) throws {
    let texts = written.split(separator: " ").map(String.init)
    let sorted = try Self.ordered(texts.reversed(), locale)
    #expect(sorted == texts)
  }

  @Test("a strength says which differences count") func strengths() throws {
    let key = { (text: String, strength: Collation.Strength) in
      try #require(Collation(locale: "de", strength: strength)).key(of: text)
    }
    #expect(try key("Äpfel", .primary) == key("apfel", .primary))
    #expect(try key("Äpfel", .secondary) == key("äPFEL", .secondary))
    #expect(try key("Äpfel", .secondary) != key("apfel", .secondary))
    #expect(try key("Äpfel", .tertiary) != key("äpfel", .tertiary))
    #expect(try key("ß", .primary) == key("SS", .primary))
  }

  @Test("composed and decomposed text are one, whatever the order of the marks")
  func normalization() throws {
    for locale in ["root", "sv", "da"] {
      let collation = try #require(Collation(locale: locale))
      #expect(collation.key(of: "\u{E5}") == collation.key(of: "a\u{30A}"))
      #expect(collation.key(of: "a\u{323}\u{30A}") == collation.key(of: "a\u{30A}\u{323}"))
      #expect(collation.key(of: "\u{AC01}") == collation.key(of: "\u{1100}\u{1161}\u{11A8}"))
      #expect(collation.key(of: "\u{1E69}") == collation.key(of: "s\u{307}\u{323}"))
    }
    // The ring belongs to the letter although a dot stands between.
    let swedish = try #require(Collation(locale: "sv"))
    #expect(swedish.orders("z", before: "a\u{323}\u{30A}"))
  }

  @Test("text without any weight and the empty text are equal and first") func ignored() throws {
    let collation = try #require(Collation(locale: "root"))
    #expect(collation.key(of: "") == collation.key(of: "\u{0}\u{200D}\u{E0101}"))
    #expect(collation.orders("", before: " "))
  }

  @Test("ASCII has the keys that the algorithm makes of it") func ascii() throws {
    let characters = (0..<0x80).map { String(Unicode.Scalar(UInt8($0))) }
    for strength in [Collation.Strength.primary, .secondary, .tertiary] {
      let collation = try #require(Collation(locale: "de", strength: strength))
      for first in characters {
        for second in characters {
          let text = first + second
          #expect(collation.key(of: text) == collation.wholeKey(of: text), "\(text)")
        }
      }
    }
  }

  @Test("a part of a text stands before the text, on each level") func beginnings() throws {
    for strength in [Collation.Strength.primary, .secondary, .tertiary] {
      let collation = try #require(Collation(locale: "fi", strength: strength))
      for (first, second) in [("a", "ab"), ("ä", "äb"), ("", "a"), ("A", "aa"), ("漢", "漢字")] {
        #expect(collation.orders(first, before: second))
        #expect(!collation.orders(second, before: first))
      }
    }
  }

  @Test("regions change nothing, and unknown languages are none") func names() {
    #expect(Collation(locale: "sv_SE")?.tailoring == Collation(locale: "SV")?.tailoring)
    #expect(Collation(locale: "de-AT")?.tailoring == Tailoring())
    for locale in ["tlh", "sv@phonebook", "de@", "ja", "@"] {
      #expect(Collation(locale: locale) == nil)
    }
  }
}
