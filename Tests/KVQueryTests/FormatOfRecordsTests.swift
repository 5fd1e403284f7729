import KVJSON
import Testing

@testable import KVQuery

@Suite("Queries of records of a format") struct FormatOfRecordsTests {
  static let byText = RecordFormat(
    version: ["rev"], versionOrder: .integer, permissions: "access")
  static let byInteger = RecordFormat(id: [.init("number", .integer)], version: ["rev"])
  static let byBoth = RecordFormat(id: [.init("tenant"), .init("number", .integer)])

  @Test(
    "name keys where they name all members of the id",
    arguments: [
      (#"{"id":"a"}"#, byText, ["a"], true),
      (#"{"id":{"$in":["a",1,"b"]}}"#, byText, ["a", "b"], true),
      (#"{"id":"a","n":1}"#, byText, ["a"], false), (#"{"_id":"a"}"#, byText, nil, false),
      (#"{"id":{"$gt":"a"}}"#, byText, nil, false), (#"{"number":7}"#, byInteger, ["7"], true),
      (#"{"number":7.0}"#, byInteger, ["7"], true), (#"{"number":"7"}"#, byInteger, [], true),
      (#"{"number":{"$in":[-1,2.5,3]}}"#, byInteger, ["-1", "3"], true),
      (#"{"number":7,"tenant":"x"}"#, byBoth, [#"["x",7]"#], true),
      (#"{"tenant":"x"}"#, byBoth, nil, false),
      (#"{"tenant":"x","number":7,"n":1}"#, byBoth, [#"["x",7]"#], false),
      (#"{"tenant":{"$in":["x","y"]},"number":7}"#, byBoth, nil, false),
    ] as [(String, RecordFormat, [String]?, Bool)])
  func named(_ filter: String, format: RecordFormat, ids: [String]?, isExact: Bool) throws {
    let named = try Query(filter: filter).of(format).namedIDs
    #expect(named == ids.map { Query.NamedIDs(ids: $0, isExact: isExact) })
  }

  @Test(
    "are made of keys",
    arguments: [
      (["a", "b"], byText, #"{"id":{"$in":["a","b"]}}"#),
      (["7", "x", "08"], byInteger, #"{"number":{"$in":[7]}}"#),
      ([#"["x",7]"#], byBoth, #"{"tenant":"x","number":7}"#),
    ])
  func keys(_ keys: [String], format: RecordFormat, filter: String) throws {
    let wanted = try Matcher(Query(filter: filter).filter)
    let (found, others) = (Matcher(.keys(keys, format)), Matcher(.noKeys(keys, format)))
    for record in [
      #"{"id":"a"}"#, #"{"id":"c"}"#, #"{"number":7}"#, #"{"number":8}"#,
      #"{"tenant":"x","number":7}"#, #"{"tenant":"x","number":8}"#,
    ] {
      let record = Array(record.utf8)
      #expect(try found.matches(record) == wanted.matches(record))
      #expect(try others.matches(record) != wanted.matches(record))
    }
  }

  @Test("show the reserved members always, and search no texts in them") func reserved() throws {
    let record = Array(#"{"_id":"word","id":"key","rev":1,"access":{"by":"ana"},"n":1,"m":2}"#.utf8)
    let query = try Query(filter: "{}", modifiers: #"{"fields":["n"]}"#).of(Self.byText)
    let shown = try #require(query.projection).apply(to: record)
    #expect(
      String(decoding: shown, as: UTF8.self) == #"{"id":"key","rev":1,"access":{"by":"ana"},"n":1}"#
    )
    func finds(_ word: String) throws -> Bool {
      let query = try Query(filter: #"{"$text":{"$search":"\#(word)"}}"#).of(Self.byText)
      return try #require(query.matcher).matches(record)
    }
    #expect(try finds("word"))
    #expect(try !finds("key") && !finds("ana"))
    let words = try #require(IndexWords(parsing: IndexWords.text(of: [], Self.byText)))
    #expect(record.withUnsafeBytes { words.words(of: $0) } == Array("word ".utf8))
  }

  @Test("update no member of the id") func updates() throws {
    for text in [
      #"{"$set":{"tenant":"y"}}"#, #"{"$inc":{"number":1}}"#, #"{"$rename":{"n":"number"}}"#,
    ] {
      let error = #expect(throws: QueryError.self) { try EntityUpdate(text, Self.byBoth) }
      #expect(error?.message.contains("cannot be changed") == true)
    }
    _ = try EntityUpdate(#"{"$set":{"_id":1}}"#, Self.byBoth)
  }
}
