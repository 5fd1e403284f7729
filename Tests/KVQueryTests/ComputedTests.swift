import KVJSON
import KVTestSupport
import Testing

@testable import KVQuery

/// Scores, snippets and distances: as members of results and as orders.
@Suite("What is computed of an entity") struct ComputedTests {
  private func shown(_ filter: String, modifiers: String, of entity: String) throws -> String {
    let query = try Query(filter: filter, modifiers: modifiers)
    #expect(try Query(filter: query.filterText, modifiers: modifiers).text == query.text)
    let projection = try #require(query.projection)
    return String(decoding: projection.apply(to: Array(entity.utf8)), as: UTF8.self)
  }

  private func search(_ text: String, _ options: String = "") -> String {
    #"{"$text":{"$search":"\#(text)"\#(options)}}"#
  }

  /// The numbers of MongoDB's manual, where no word is left out.
  @Test(
    "has MongoDB's score",
    arguments: [
      ("coffee", "", #"{"a":"Coffee Shopping"}"#, "0.75"),
      ("coffee", "", #"{"a":"coffee"}"#, "1.1"),
      ("coffee tea", "", #"{"a":"coffee tea"}"#, "1.5"),
      ("coffee", "", #"{"a":"x","b":["Coffee Shopping",{"c":"coffee"}]}"#, "1.85"),
      ("coffee", "", #"{"a":"coffee coffee milk"}"#, "1.25"),
      ("tea", "", #"{"a":"coffee"}"#, "0.0"),
      (#"\"hot tea\""#, "", #"{"a":"hot tea, cold tea"}"#, "0.625"),
      ("co*", "", #"{"a":"coffee, cold"}"#, "1.5"),
      ("shops", #","$language":"english""#, #"{"a":"Coffee Shopping"}"#, "0.75"),
      ("tea -milk", "", #"{"a":"tea milk"}"#, "0.75"),
    ])
  func score(_ text: String, options: String, entity: String, score: String) throws {
    let found = try shown(
      search(text, options), modifiers: #"{"computed":{"s":{"$meta":"textScore"}}}"#, of: entity)
    #expect(found == entity.dropLast() + #","s":\#(score)}"#)
  }

  @Test(
    "has the part of a text that shows best why it was found",
    arguments: [
      ("fox", "", "The quick fox.", "The quick <b>fox</b>."),
      ("fox", #","words":1"#, "The quick fox.", "…<b>fox</b>."),
      ("fox", #","words":2"#, "a fox b c", "…<b>fox</b> b…"),
      ("fox", #","words":3"#, "1 2 3 4 fox 6 7 8", "…4 <b>fox</b> 6…"),
      ("fox dog", #","words":3"#, "fox fox fox 4 dog 6 fox", "…<b>fox</b> 4 <b>dog</b>…"),
      (#"\"quick fox\" -cat"#, "", "the quick fox", "the <b>quick fox</b>"),
      (#"\"a b c d\""#, #","words":2"#, "x a b c d", "…<b>a b</b>…"),
      ("caf*", #","start":"[","end":"]","ellipsis":"-","words":1"#, "Un Café, deux", "-[Café]-"),
      ("東京", "", "大東京都", "大<b>東京</b>都"), ("x", "", "<x>", "<<b>x</b>>"),
      ("run", #","words":2"#, "he runs, run", "…runs, <b>run</b>"),
    ])
  func snippet(_ text: String, style: String, body: String, snippet: String) throws {
    let modifiers = #"{"computed":{"s":{"$meta":"snippet"\#(style)}}}"#
    let found = try shown(search(text), modifiers: modifiers, of: #"{"a":"\#(body)"}"#)
    #expect(found == #"{"a":"\#(body)","s":\#(JSONValue.string(snippet).text)}"#)
  }

  @Test("has the snippet of the best text, or of the one that is named") func snippetOfSeveral()
    throws
  {
    let entity = #"{"title":"a fox","body":["no","the fox and the dog"]}"#
    let best = try shown(
      search("fox dog"), modifiers: #"{"fields":["none"],"computed":{"s":{"$meta":"snippet"}}}"#,
      of: entity)
    #expect(best == #"{"s":"the <b>fox</b> and the <b>dog</b>"}"#)
    let named = try shown(
      search("fox dog"),
      modifiers: #"{"fields":["none"],"computed":{"s":{"$meta":"snippet","path":"title"}}}"#,
      of: entity)
    #expect(named == #"{"s":"a <b>fox</b>"}"#)
    let none = try shown(
      search("cat"), modifiers: #"{"fields":["none"],"computed":{"s":{"$meta":"snippet"}}}"#,
      of: entity)
    #expect(none == #"{"s":null}"#)
  }

  @Test("has the distance in metres, and what it computes stands for members of the same names")
  func distance() throws {
    let near = #"{"_geoloc":{"$nearSphere":[0,0]}}"#
    let computed = #"{"fields":["a"],"computed":{"a":{"$meta":"geoNearDistance"}}}"#
    let found = try shown(
      near, modifiers: computed, of: #"{"a":1,"_id":"x","_geoloc":[[9,9],[0.0,1.0]],"b":2}"#)
    #expect(found.hasPrefix(#"{"_id":"x","a":111194.92"#))
    #expect(try shown(near, modifiers: computed, of: #"{"b":2}"#) == #"{"a":null}"#)
  }

  @Test("orders by the score, by the distance, and by several") func orders() throws {
    func order(_ filter: String, sort: String, entities: [String]) throws -> [Int] {
      let query = try Query(filter: filter, modifiers: #"{"sort":{\#(sort)}}"#)
      let sorter = try #require(query.sorter)
      #expect(!query.isRemote)
      let keys = entities.map { sorter.key(of: Array($0.utf8)) }
      return entities.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) }
    }
    let score = #""s":{"$meta":"textScore"}"#
    let texts = [#"{"a":"fox b c","n":2}"#, #"{"a":"fox","n":1}"#, #"{"a":"b fox c","n":1}"#]
    #expect(try order(search("fox"), sort: "\(score),\"n\":1", entities: texts) == [1, 2, 0])
    #expect(try order(search("fox"), sort: "\"n\":-1,\(score)", entities: texts) == [0, 1, 2])
    let either = #"{"$or":[{"a":{"$text":{"$search":"fox"}}},{"b":{"$text":{"$search":"fox"}}}]}"#
    #expect(
      try order(
        either, sort: score,
        entities: [#"{"c":"fox"}"#, #"{"b":"fox"}"#, #"{"a":"fox","b":"fox"}"#])
        == [2, 1, 0])
    let distance = #""d":{"$meta":"geoNearDistance"}"#
    #expect(
      try order(
        #"{"p":{"$nearSphere":[0,0]}}"#, sort: "\(distance),\"n\":1",
        entities: [#"{"p":[5,5]}"#, #"{"p":[0,1],"n":2}"#, #"{"p":[0,1],"n":1}"#]) == [2, 1, 0])
  }

  @Test(
    "is refused where the filter does not provide it, with the position",
    arguments: [
      (#"{"sort":{"s":{"$meta":"textScore"}}}"#, 9), (#"{"sort":{"s":{"$meta":"x"}}}"#, 9),
      (#"{"sort":{"s":{"$meta":"geoNearDistance"}}}"#, 9),
      (#"{"computed":{"s":{"$meta":"textScore"}}}"#, 13),
      (#"{"computed":{"s":{"$meta":"snippet"}}}"#, 13),
      (#"{"computed":{"s":1}}"#, 13), (#"{"computed":[]}"#, 1),
      (#"{"computed":{"_id":{"$meta":"textScore"}}}"#, 13),
      (#"{"computed":{"a.b":{"$meta":"textScore"}}}"#, 13),
      (#"{"computed":{"s":{"$meta":"snippet","words":0}}}"#, 36),
      (#"{"computed":{"s":{"$meta":"snippet","begin":""}}}"#, 36),
    ])
  func refuses(_ modifiers: String, _ position: Int) throws {
    let error = #expect(throws: QueryError.self) {
      try Query(filter: #"{"$nor":[{"$text":{"$search":"x"}}]}"#, modifiers: modifiers)
    }
    #expect(error?.position == position, "\(String(describing: error))")
  }

  /// Texts and searches of the same few words, windows of all sizes.
  @Test("never has a snippet with more words than it may, or without what was found") func windows()
    throws
  {
    let seed = Seed()
    var random = seed
    let pieces = ["a", "b", "é", "東", "京", " ", ", ", "<", "\u{301}", "ab"]
    func text(_ limit: Int) -> String {
      (0..<Int.random(in: 0...limit, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }.joined()
    }
    for _ in 0..<3_000 {
      let (body, limit) = (text(30), Int.random(in: 1...6, using: &random))
      let search = TextSearch(Bool.random(using: &random) ? text(4) : "\"\(text(4))\"")
      var style = SnippetStyle()
      (style.start, style.end, style.ellipsis, style.words) = ([2], [3], [], limit)
      let entity = Array(JSONValue.object(["t": .string(body)]).bytes)
      let snippet = entity.withUnsafeBytes { bytes in
        style.snippet(
          of: RawValue(entity: bytes), [PlacedSearch(search: search, path: nil)], .default)
      }
      let isFound = try Matcher(.text(search)).matches(entity)
      guard let found = snippet?.stringValue else {
        #expect(!isFound, "\(seed): \(search.text) in \(body)")
        continue
      }
      let plain = found.utf8.filter { $0 != 2 && $0 != 3 }
      #expect(Array(body.utf8).firstRange(of: Array(plain)) != nil, "\(seed): \(body) \(found)")
      #expect(found.utf8.contains(2), "\(seed): \(found)")
      var words = 0
      plain.withContiguousStorageIfAvailable { plain in
        var reader = WordReader(plain)
        while reader.next() { words += 1 }
      }
      #expect(words <= limit, "\(seed): \(found)")
    }
  }
}
