import KVJSON
import KVTestSupport
import Testing

@testable import KVQuery

@Suite("Text search") struct TextSearchTests {
  /// Filter, entities that it selects, entities that it does not.
  @Test(
    "finds words, prefixes and phrases",
    arguments: [
      // Words: one of them, or all.
      (#""fox dog""#, [#"{"a":"a dog"}"#, #"{"a":["x","Fox!"]}"#], [#"{"a":"foxes"}"#, "{}"]),
      (
        #""fox dog","$matchCriteria":"all""#, [#"{"a":"dog","b":{"c":"fox"}}"#],
        [#"{"a":"a dog"}"#]
      ),
      (#""fox dog","$matchCriteria":"any""#, [#"{"a":"a dog"}"#], [#"{"a":"cat"}"#]),
      // Prefixes.
      (#""fo*""#, [#"{"a":"fox"}"#, #"{"a":"a FOREST"}"#, #"{"a":"fo"}"#], [#"{"a":"info f"}"#]),
      (#""for* -forest*""#, [#"{"a":"forty"}"#], [#"{"a":"forty forests"}"#]),
      (#""old-tow*""#, [#"{"a":"old"}"#, #"{"a":"tower"}"#], [#"{"a":"olden"}"#]),
      // Phrases, whose last word may be the beginning of one.
      (#""\"old town\"""#, [#"{"a":"An Old Town"}"#], [#"{"a":"old","b":"town"}"#]),
      (
        #""\"old tow*\"""#, [#"{"a":"old, tower"}"#], [#"{"a":"old two"}"#, #"{"a":"older town"}"#]
      ),
      (#""\"old tow\"*""#, [#"{"a":"old tower"}"#], [#"{"a":"old two"}"#]),
      (#""\"a a b\"""#, [#"{"a":"a a a b"}"#], [#"{"a":"a b a b"}"#]),
      (#""\"a b\" \"c\" d""#, [#"{"a":"c a b"}"#], [#"{"a":"d a b"}"#]),
      // Excluded words and phrases.
      (#""dog -\"red fox\"""#, [#"{"a":"dog, fox red"}"#], [#"{"a":"dog","b":"a red fox"}"#]),
      (#""dog -big-red""#, [#"{"a":"dog red big"}"#], [#"{"a":"dog big red"}"#]),
      // Nothing to look for finds nothing.
      (#""""#, [], [#"{"a":"x"}"#]), (#""-fox""#, [], [#"{"a":"x"}"#]),
      (#""* \" - \"\" -\"""#, [], [#"{"a":"*"}"#]),
      // Signs elsewhere separate words, and nothing is FTS5's syntax.
      (#""fo*x""#, [#"{"a":"fo"}"#, #"{"a":"x"}"#], [#"{"a":"fox"}"#]),
      (#""NEAR(a b, 3) words:x ^y""#, [#"{"a":"near"}"#, #"{"a":"3"}"#, #"{"a":"y"}"#], ["{}"]),
      (#""\"unclosed here""#, [#"{"a":"unclosed here"}"#], [#"{"a":"unclosed"}"#]),
      // Case and marks.
      (#""CAFE\u0301""#, [#"{"a":"café"}"#, #"{"a":"Cafe"}"#], [#"{"a":"caf"}"#]),
      (#""Café","$caseSensitive":true"#, [#"{"a":"Cafe"}"#], [#"{"a":"café"}"#]),
      (
        #""café","$diacriticSensitive":true"#, [#"{"a":"CAFE\u0301"}"#], [#"{"a":"cafe"}"#]
      ),
      (#""ΣΊΣΥΦΟΣ""#, [#"{"a":"Σίσυφος"}"#], [#"{"a":"Σίσυφο"}"#]),
      // Scripts without spaces: the characters have to stand together.
      (#""東京""#, [#"{"a":"東京都に住む"}"#], [#"{"a":"京東"}"#, #"{"a":"東 北 京"}"#]),
      (#""がく""#, [#"{"a":"大学のか\u3099く"}"#], [#"{"a":"が"}"#]),
      (#""東京 大阪""#, [#"{"a":"大阪府"}"#], [#"{"a":"大東"}"#]),
      (#""สวัสดี""#, [#"{"a":"คำว่าสวัสดีครับ"}"#], [#"{"a":"สวย"}"#]),
      (#""한국*""#, [#"{"a":"한국어"}"#], [#"{"a":"한"}"#]),
      // Stems.
      (
        #""running","$language":"english""#, [#"{"a":"He runs"}"#, #"{"a":"run"}"#],
        [#"{"a":"ran"}"#]
      ),
      (#""\"running\"","$language":"en""#, [#"{"a":"running"}"#], [#"{"a":"runs"}"#]),
      (#""run -jumping","$language":"english""#, [#"{"a":"run"}"#], [#"{"a":"run, jumps"}"#]),
      (#""running","$language":"none""#, [#"{"a":"running"}"#], [#"{"a":"runs"}"#]),
      (#""runn*","$language":"english""#, [#"{"a":"running"}"#], [#"{"a":"runs"}"#]),
    ] as [(String, [String], [String])])
  func finds(_ search: String, selected: [String], others: [String]) throws {
    let query = try Query(filter: #"{"$text":{"$search":\#(search)}}"#)
    let matcher = try #require(query.matcher)
    for entity in selected { #expect(try matcher.matches(Array(entity.utf8)), "\(entity)") }
    for entity in others { #expect(try !matcher.matches(Array(entity.utf8)), "\(entity)") }
    #expect(try Query(filter: query.filterText) == query)
  }

  @Test(
    "what it cannot be is refused, with the position",
    arguments: [
      (#"{"$text":{"$search":5}}"#, 1, "$text needs"),
      (#"{"$text":{"$search":"a","$language":"latin"}}"#, 24, "none"),
      (#"{"$text":{"$search":"a","$language":1}}"#, 24, "needs a name"),
      (#"{"$text":{"$search":"a","$caseSensitive":1}}"#, 24, "true or false"),
      (#"{"$text":{"$search":"a","$matchCriteria":"some"}}"#, 24, "any"),
      (#"{"$text":{"$search":"a","$fuzzy":true}}"#, 24, "unknown option $fuzzy"),
      (
        #"{"$text":{"$search":"a","$language":"english","$caseSensitive":true}}"#, 24,
        "cannot be used with $caseSensitive"
      ),
    ] as [(String, Int, String)])
  func refuses(_ filter: String, position: Int, message: String) throws {
    let error = #expect(throws: QueryError.self) { try Query(filter: filter) }
    #expect(error?.position == position)
    #expect(error?.message.contains(message) == true, "\(String(describing: error))")
  }

  @Test("a search that is too long is refused, whatever it consists of") func tooLong() throws {
    for text in [
      String(repeating: "x", count: 1_000_000), String(repeating: "w*", count: 40_000),
      (0..<10_000).map { "w\($0)" }.joined(separator: " "),
      String(repeating: "東", count: 600),
    ] {
      let filter = #"{"a":{"$text":{"$search":"\#(text)"}}}"#
      let error = #expect(throws: QueryError.self) { try Query(filter: filter) }
      #expect(error?.position == 15)
      #expect(error?.message.contains("at most") == true)
    }
    let words = (0..<4_096).map { "w\($0)" }.joined(separator: " ")
    _ = try Query(filter: #"{"$text":{"$search":"\#(words) w1"}}"#)
  }

  /// Pieces of the notation in any order: what is read is printed and read again as the same, and what FTS5 would be
  /// asked is a list of quoted words.
  @Test("any text is a search") func anyText() throws {
    let seed = Seed()
    var random = seed
    let pieces = [
      "\"", "-", "*", " ", "fox", "é", "e\u{301}", "東京", "\u{0}", "(", ")", ":", "^", "'", "\\",
      "NEAR",
      "OR", "😀", "\u{301}", "ａ", "ß", "İ", "\n", "\u{200D}", "𝔘", "한", "9",
    ]
    for _ in 0..<3_000 {
      let length = Int.random(in: 0..<9, using: &random)
      let text = (0..<length).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      var options = TextSearch.Options()
      options.needsAll = Bool.random(using: &random)
      if Bool.random(using: &random) { options.language = .english }
      let search = TextSearch(text, options)
      let predicate = Predicate.text(search)
      #expect(try Query(filter: predicate.json.text) == Query(predicate), "\(seed)")
      guard let expression = search.expression(stems: true) else { continue }
      let isSafe = expression.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        .allSatisfy { index, part in
          index % 2 == 1
            || [
              "", "*", "words:", "stems:", " OR words:", " OR stems:", " AND words:",
              " AND stems:", "* OR words:", "* OR stems:", "* AND words:", "* AND stems:",
            ].contains(part)
        }
      #expect(isSafe, "\(expression)")
    }
  }

  @Test("long texts and long phrases are searched in reasonable time") func effort() throws {
    let text = String(repeating: "a ", count: 2_000)
    let phrase = String(repeating: "a ", count: 255) + "b"
    let search = TextSearch("\"\(phrase)\"")
    let entity = Array("{\"t\":\"\(text)\"}".utf8)
    #expect(try !Matcher(.text(search)).matches(entity))
  }
}
