import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

extension Storage {
  func createIndex(
    _ keys: String, name: String? = nil, totals: Bool = false, collation: String? = nil,
    in collection: String = "c"
  ) throws {
    let name = name.map { #""name":"\#($0)","# } ?? ""
    let others =
      (totals ? #","totals":true"# : "") + (collation.map { #","collation":\#($0)"# } ?? "")
    try createIndex(IndexSpec(parsing: #"{\#(name)"keys":\#(keys)\#(others)}"#), in: collection)
  }

  func explained(
    _ filter: String, _ modifiers: String? = nil, in collection: String = "c"
  ) throws -> Explanation {
    try explain(query(filter, modifiers), in: collection)
  }
}

@Suite("Indexes") struct IndexTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws {
    storage = try openStorage(in: directory)
    try storage.store(
      (0..<500).map {
        #"{"_id":"\#($0)","n":\#($0),"country":"C\#($0 % 10)","tags":["t\#($0 % 7)","u"]}"#
      })
  }

  @Test("an index limits what is looked at to what is given") func examined() throws {
    let scan = try storage.explained(#"{"country":"C3"}"#)
    #expect(scan.access == .scan)
    #expect((scan.examined, scan.returned) == (500, 50))
    try storage.createIndex(#"{"country":1}"#)
    let indexed = try storage.explained(#"{"country":"C3"}"#)
    #expect(indexed.access == .index)
    #expect(indexed.indexes == ["country_1"])
    #expect((indexed.examined, indexed.returned) == (50, 50))
    #expect(indexed.isExact && indexed.isCovering)
  }

  /// To break a tie by `_id`, one entity more than the page is looked at.
  @Test(
    "the index that fits is chosen",
    arguments: [
      (#"{"country":"C1"}"#, nil, ["country_1_n_-1"], 50),
      (#"{"country":"C1","n":{"$gte":400}}"#, nil, ["country_1_n_-1"], 10),
      (#"{"n":{"$gte":400,"$lt":410}}"#, nil, ["n_1"], 10),
      (#"{"n":{"$gte":400}}"#, #"{"sort":{"n":-1},"limit":5}"#, ["n_1"], 6),
      (#"{"country":"C1"}"#, #"{"sort":{"n":1},"limit":5}"#, ["country_1_n_-1"], 6),
      (#"{"country":{"$in":["C1","C2"]}}"#, nil, ["country_1_n_-1"], 100),
      (#"{"country":{"$regex":"^C1"}}"#, nil, ["country_1_n_-1"], 50),
      ("{}", #"{"sort":{"n":1},"limit":3}"#, ["n_1"], 4),
      (#"{"tags":"t3"}"#, nil, ["tags_1"], 71),
      (#"{"$or":[{"n":7},{"tags":"t3"}]}"#, nil, ["n_1", "tags_1"], 72),
      (#"{"$or":[{"n":7},{"other":1}]}"#, nil, [], 500),
      (#"{"n":{"$ne":7}}"#, nil, [], 500),
    ] as [(String, String?, [String], Int)])
  func choice(_ filter: String, modifiers: String?, indexes: [String], examined: Int) throws {
    let before = try storage.find(filter, modifiers)
    for keys in [#"{"country":1,"n":-1}"#, #"{"n":1}"#, #"{"tags":1}"#] {
      try storage.createIndex(keys)
    }
    let explanation = try storage.explained(filter, modifiers)
    #expect(explanation.indexes == indexes, "\(explanation)")
    #expect(explanation.examined == examined, "\(explanation)")
    #expect(try storage.find(filter, modifiers) == before)
  }

  @Test("making one again does nothing, with other keys it is refused") func again() throws {
    try storage.createIndex(#"{"n":1}"#, name: "mine")
    try storage.createIndex(#"{"n":1}"#, name: "mine")
    #expect(throws: StoreError.self) { try storage.createIndex(#"{"n":-1}"#, name: "mine") }
    #expect(try storage.indexes(in: "c").map(\.spec.name) == ["mine"])
    #expect(try storage.indexes(in: "none").isEmpty)
  }

  @Test("a dropped index is not used, nor listed") func dropping() throws {
    try storage.createIndex(#"{"n":1}"#)
    #expect(try storage.explained(#"{"n":4}"#).access == .index)
    #expect(try storage.dropIndex("n_1", in: "c"))
    #expect(try !storage.dropIndex("n_1", in: "c"))
    #expect(try storage.explained(#"{"n":4}"#).access == .scan)
    #expect(try storage.indexes(in: "c").isEmpty)
    #expect(try storage.find(#"{"n":4}"#).count == 1)
  }

  @Test("another process sees indexes come and go") func elsewhere() throws {
    let other = try openStorage(in: directory)
    #expect(try other.explained(#"{"n":4}"#).access == .scan)
    try storage.createIndex(#"{"n":1}"#)
    #expect(try other.explained(#"{"n":4}"#).access == .index)
    try other.save(#"{"_id":"new","n":4}"#)
    #expect(try storage.find(#"{"n":4}"#).count == 2)
    _ = try other.dropIndex("n_1", in: "c")
    #expect(try storage.find(#"{"n":4}"#).count == 2)
  }

  @Test("an index is what it was when the file is opened again") func reopening() throws {
    try storage.createIndex(#"{"tags":1}"#)
    storage.close()
    let other = try openStorage(in: directory)
    #expect(
      try other.indexes(in: "c").map { $0.json.text } == [
        #"{"name":"tags_1","keys":{"tags":1},"state":"ready","arrays":true}"#
      ])
    #expect(try other.explained(#"{"tags":"t3"}"#).examined == 71)
  }

  @Test("an array that appears later changes what may be asked, in the same transaction")
  func arrays() throws {
    try storage.createIndex(#"{"n":1}"#)
    let range = #"{"n":{"$gt":600,"$lt":700}}"#
    #expect(try storage.find(range).isEmpty)
    try storage.save(#"{"_id":"both","n":[500,900]}"#)
    // One element is above, another one below.
    #expect(try storage.find(range).count == 1)
    #expect(try storage.count(query(range), in: "c", writtenSince: nil) == 1)
    #expect(try storage.find("{}", #"{"sort":{"n":-1},"limit":1}"#)[0].contains("both"))
  }

  @Test("a number beyond all doubles makes an index useless, not wrong") func beyond() throws {
    try storage.createIndex(#"{"n":1}"#)
    try storage.save(#"{"_id":"far","n":-1e999}"#)
    #expect(try storage.find(#"{"n":{"$lt":0}}"#).count == 1)
    #expect(try storage.find(#"{"n":null}"#).isEmpty)
    #expect(try storage.indexes(in: "c")[0].json["state"] == "unusable")
  }

  @Test("words are found by their index as they are without it") func words() throws {
    try storage.store(
      #"{"_id":"a","title":"The Café at the river","tags":["Quiet place"]}"#,
      #"{"_id":"b","title":"River cafe","note":{"text":"quiet"}}"#, #"{"_id":"c","title":"Rivers"}"#
    )
    let cases = [
      (#"{"$text":{"$search":"CAFE"}}"#, 2), (#"{"$text":{"$search":"river nothing"}}"#, 2),
      (#"{"$text":{"$search":"\"river café\""}}"#, 1),
      (#"{"$text":{"$search":"quiet -place"}}"#, 1),
      (#"{"title":{"$text":{"$search":"quiet"}}}"#, 0), (#"{"$text":{"$search":"-river"}}"#, 0),
    ]
    for (filter, expected) in cases {
      #expect(try storage.explained(filter).access == .scan)
      #expect(try storage.find(filter).count == expected, "\(filter)")
    }
    try storage.createIndex(#"{"$**":"text"}"#)
    for (filter, expected) in cases {
      #expect(try storage.find(filter).count == expected, "\(filter)")
    }
    let explanation = try storage.explained(#"{"$text":{"$search":"cafe"}}"#)
    #expect((explanation.indexes, explanation.examined) == (["$**_text"], 2))
  }

  @Test("places are found over the date line and at the poles") func places() throws {
    try storage.store(
      (0..<360).map {
        #"{"_id":"p\#($0)","_geoloc":[\#($0 - 180),\#(Double($0 % 19) * 10 - 90)]}"#
      })
    let cases = [
      #"{"_geoloc":{"$geoWithin":{"$box":[[170,-90],[-170,90]]}}}"#,
      #"{"_geoloc":{"$nearSphere":[180,0],"$maxDistance":800}}"#,
      #"{"_geoloc":{"$geoWithin":{"$centerSphere":[[0,90],0.3]}}}"#,
    ]
    let before = try cases.map { try storage.find($0) }
    try storage.createIndex(#"{"_geoloc":"2dsphere"}"#)
    for (filter, expected) in zip(cases, before) {
      let explanation = try storage.explained(filter)
      #expect(explanation.access == .index && explanation.examined < 60, "\(explanation)")
      #expect(!expected.isEmpty && expected.count < 60)
      #expect(try storage.find(filter) == expected)
    }
  }

  @Test(
    "an index alone gives the groups that entities give",
    arguments: [
      [], [#"{"_id":"x","country":"C3","n":2.5}"#], [#"{"_id":"x","country":7,"n":1}"#],
      [#"{"_id":"x","country":"C3"}"#], [#"{"_id":"x","n":4}"#],
      [#"{"_id":"x","country":["a"],"n":1}"#],
      [#"{"_id":"x","country":"C3","n":9223372036854775807}"#],
      [#"{"_id":"x","country":"C3","n":"1"}"#],
      (0..<1200).map { #"{"_id":"x\#($0)","country":"many \#($0)","n":\#($0 % 7)}"# },
    ], [false, true])
  func groups(_ more: [String], totals: Bool) throws {
    try storage.store(more)
    let before = try groups()
    try storage.createIndex(#"{"country":1,"n":-1}"#, totals: totals)
    #expect(try groups() == before)
    #expect(before.count >= 10)
  }

  @Test("totals follow every change, and what 64 bits do not hold") func totals() throws {
    let other = try openStorage(in: directory, tag: "other")
    try storage.createIndex(#"{"country":1,"n":1}"#, totals: true)
    let largest = "9223372036854775807"
    for change in [
      #"{"_id":"3","n":5,"country":"C3"}"#, #"{"_id":"4","n":5,"country":"new"}"#,
      #"{"_id":"5","n":\#(largest),"country":"new"}"#, #"{"_id":"5","n":1,"country":"new"}"#,
      #"{"_id":"4","country":"new"}"#, #"{"_id":"4","n":"5","country":"C4"}"#,
    ] {
      for id in [other, storage] { try id.save(change) }
      _ = try other.clear(nil, in: "c")
      try other.store(storage.find("{}"))
      #expect(try groups() == groups(of: other))
    }
    _ = try storage.clear(query(#"{"country":"C3"}"#), in: "c")
    #expect(try groups().count == 10)
    #expect(try storage.dropIndex("country_1_n_1", in: "c"))
    #expect(try groups().count == 10)
  }

  private func groups(of storage: Storage? = nil) throws -> [JSONObject] {
    let grouping = try Grouping(
      parsing: #"""
        {"keys":["country"],"aggregates":{"a":"count","b":{"sum":"n"},"c":{"avg":"n"},
        "d":{"min":"n"},"e":{"max":"n"}}}
        """#)
    return try (storage ?? self.storage).group(grouping, of: Query(), in: "c", writtenSince: nil)
  }

  @Test(
    "totals need a group and a number",
    arguments: [
      #"{"keys":{"a":1},"totals":true}"#, #"{"keys":{"a":"text","b":"text"},"totals":true}"#,
      #"{"keys":{"a":"2dsphere"},"totals":true}"#, #"{"keys":{"a":1,"b":1},"totals":1}"#,
    ])
  func refused(_ spec: String) {
    #expect(throws: QueryError.self) { try IndexSpec(parsing: spec) }
  }

  @Test("clear, wipe and remove by query keep it up") func removing() throws {
    try storage.createIndex(#"{"n":1}"#)
    #expect(try storage.remove(query(#"{"n":{"$lt":100}}"#), in: "c") == 100)
    #expect(try storage.count(query(#"{"n":{"$lt":200}}"#), in: "c", writtenSince: nil) == 100)
    #expect(try storage.clear(query(#"{"n":{"$lt":200}}"#), in: "c") == 100)
    #expect(try storage.find(#"{"n":{"$lt":200}}"#).isEmpty)
    _ = try storage.clear(nil, in: "c")
    #expect(try storage.count(query(#"{"n":{"$gte":0}}"#), in: "c", writtenSince: nil) == 0)
    try storage.store(#"{"_id":"1","n":1}"#)
    try storage.wipe()
    #expect(try storage.find(#"{"n":1}"#).isEmpty)
  }

  @Test(
    "only a beginning that every match has is looked up for a regular expression",
    arguments: [
      "^a|b", "^a|^b", "^(a|b)", "a|^b", #"^a\\|b"#, #"^a\\.b"#, "^ab?c", "^ab*", "^a{0}b",
      "^ab{0,1}", "^a+", "^é", "^éa?",
      "(?i)^a", "^a b", "^(?:)a", "^a$|b", "^ab(?=c)|x", "^[ab]", "^a\\nb", #"^\\Qa|b"#, "(?|^a|b)",
    ])
  func beginnings(expression: String) throws {
    let texts = [
      "a", "b", "ab", "ac", "abc", "bc", "A", "Ab", "a|b", "a.b", "a b", "é", "éa", "x\\na", "xb",
      "x", "a\\nb",
    ]
    try storage.store(
      texts.enumerated().map { #"{"_id":"\#($0)","s":"\#($1)"}"# }, in: "texts")
    let filters = ["", "i", "m", "s", "x", "im"].map {
      #"{"s":{"$regex":"\#(expression)","$options":"\#($0)"}}"#
    }
    let answers = try filters.map { try storage.find($0, in: "texts") }
    try storage.createIndex(#"{"s":1}"#, in: "texts")
    for (filter, answer) in zip(filters, answers) {
      #expect(try storage.find(filter, in: "texts") == answer, "\(filter)")
    }
  }
}
