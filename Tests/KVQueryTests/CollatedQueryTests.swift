import KVJSON
import KVQuery
import Testing

@Suite("Order by language in queries") struct CollatedQueryTests {
  private static func texts(
    _ words: String, sortedBy modifiers: String, descending: Bool = false
  ) throws -> String {
    let sorter = try #require(try Query(filter: nil, modifiers: modifiers).sorter)
    let keyed = words.split(separator: " ").map { word in
      (sorter.key(of: Array("{\"a\":\"\(word)\"}".utf8)), String(word))
    }
    return keyed.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1).joined(separator: " ")
  }

  @Test(
    "a sort follows the language",
    arguments: [
      (#"{"sort":{"a":1}}"#, "Zoe anna Ärger ärger"),
      (#"{"sort":{"a":1},"collation":"de"}"#, "anna ärger Ärger Zoe"),
      (#"{"sort":{"a":-1},"collation":{"locale":"de"}}"#, "Zoe Ärger ärger anna"),
      (#"{"sort":{"a":1},"collation":{"locale":"sv"}}"#, "anna Zoe ärger Ärger"),
      (#"{"sort":{"a":{"$order":-1,"$collation":"sv"}}}"#, "Ärger ärger Zoe anna"),
      (#"{"sort":{"a":{"$collation":"sv"}},"collation":"de"}"#, "anna Zoe ärger Ärger"),
    ])
  func sorts(modifiers: String, expected: String) throws {
    #expect(try Self.texts("Zoe ärger anna Ärger", sortedBy: modifiers) == expected)
  }

  @Test("texts in arrays and objects are in the same order, other values stay where they are")
  func nested() throws {
    let sorter = try #require(
      try Query(filter: nil, modifiers: #"{"sort":{"a":1},"collation":"de"}"#).sorter)
    let ascending = [
      "null", "1", "2", #""a""#, #"["z","ä"]"#, #""b""#, #""z""#, #"{"b":"ä"}"#, #"{"b":"z"}"#,
      "true",
    ]
    let keys = ascending.map { sorter.key(of: Array("{\"a\":\($0)}".utf8)) }
    for (left, right) in zip(keys, keys.dropFirst()) {
      #expect(left.lexicographicallyPrecedes(right))
    }
  }

  private static let loose = #"{"locale":"de","ignoreCase":true,"ignoreAccents":true}"#

  @Test(
    "comparisons follow the language",
    arguments: [
      (#"{"a":"Arger"}"#, #"{"a":"ärger"}"#, #"{"a":"arge"}"#),
      (#"{"a":{"$ne":"arger"}}"#, #"{"a":"b"}"#, #"{"a":"Ärger"}"#),
      (#"{"a":{"$gt":"ä","$lt":"b"}}"#, #"{"a":"Affe"}"#, #"{"a":"B"}"#),
      (#"{"a":{"$gte":"A","$lte":"ä"}}"#, #"{"a":"á"}"#, #"{"a":"ab"}"#),
      (#"{"a":{"$in":["x","É"]}}"#, #"{"a":["b","e"]}"#, #"{"a":"f"}"#),
      (
        #"{"a":{"$in":["A","B","C","D","E","F","G","H","I","J"]}}"#, #"{"a":"é"}"#,
        #"{"a":"k"}"#
      ),
      (#"{"a":{"$nin":["E"]}}"#, #"{"a":"f"}"#, #"{"a":"é"}"#),
      (#"{"a":{"$all":["E","F"]}}"#, #"{"a":["f","é"]}"#, #"{"a":["e"]}"#),
      (#"{"a":{"$not":{"$eq":"E"}}}"#, #"{"a":"f"}"#, #"{"a":"é"}"#),
      (#"{"a":{"$elemMatch":{"b":"E"}}}"#, #"{"a":[{"b":"é"}]}"#, #"{"a":[{"b":"f"}]}"#),
      (#"{"a":{"$elemMatch":{"$gt":"e","$lt":"f"}}}"#, #"{"a":["Éa"]}"#, #"{"a":["é"]}"#),
      (#"{"a":{"b":"E"}}"#, #"{"a":{"b":"é"}}"#, #"{"a":{"B":"é"}}"#),
      (#"{"$or":[{"a":"E"},{"b":"E"}]}"#, #"{"b":"é"}"#, #"{"b":"f"}"#),
      (#"{"$nor":[{"a":"E"}]}"#, #"{"a":"f"}"#, #"{"a":"é"}"#),
      // Numbers, patterns and types are what they are without it.
      (#"{"a":{"$gt":1}}"#, #"{"a":2}"#, #"{"a":"x"}"#),
      (#"{"a":{"$regex":"^e"}}"#, #"{"a":"e"}"#, #"{"a":"E"}"#),
      (#"{"a":null}"#, #"{}"#, #"{"a":""}"#),
    ])
  func compares(filter: String, selected: String, left: String) throws {
    let query = try Query(filter: filter, modifiers: "{\"collation\":\(Self.loose)}")
    for query in [query, try Query(filter: query.filterText)] {
      let matcher = try #require(query.matcher)
      #expect(try matcher.matches(Array(selected.utf8)), "\(query.filterText)")
      #expect(try !matcher.matches(Array(left.utf8)), "\(query.filterText)")
    }
  }

  @Test(
    "predicate formats follow it too, but not for parts of texts",
    arguments: [
      ("a = 'E'", #"{"a":"é"}"#, #"{"a":"f"}"#),
      ("a > b", #"{"a":"f","b":"É"}"#, #"{"a":"e","b":"É"}"#),
      ("a BETWEEN {'e', 'f'}", #"{"a":"É"}"#, #"{"a":"g"}"#),
      ("SUBQUERY(a, $x, $x.b = c).@count = 1", #"{"a":[{"b":"É"}],"c":"e"}"#, #"{"a":[]}"#),
      ("TERNARY(a = b, 1, 2) = 1", #"{"a":"É","b":"e"}"#, #"{"a":"f","b":"e"}"#),
      ("a ==[c] b", #"{"a":"E","b":"e"}"#, #"{"a":"é","b":"e"}"#),
      ("a ==[c] 'e'", #"{"a":"E"}"#, #"{"a":"é"}"#),
      ("a BEGINSWITH 'E'", #"{"a":"Ex"}"#, #"{"a":"éx"}"#),
    ])
  func formats(format: String, selected: String, left: String) throws {
    let query = try Query(format: format, modifiers: "{\"collation\":\(Self.loose)}")
    let printed = try #require(JSONValue(parsing: query.formatText).objectValue)
    let again = try Query(
      format: try #require(printed["format"]?.stringValue),
      arguments: printed["arguments"]?.text)
    for query in [query, try Query(filter: query.filterText), again] {
      let matcher = try #require(query.matcher)
      #expect(try matcher.matches(Array(selected.utf8)), "\(query.filterText)")
      #expect(try !matcher.matches(Array(left.utf8)), "\(query.filterText)")
    }
  }

  @Test(
    "a query is printed with its order by language and reads back",
    arguments: [
      (
        #"{"a":"x","b":5}"#, #"{"sort":{"a":-1,"b":1},"collation":"de"}"#,
        #"{"filter":{"a":{"$eq":"x","$collation":{"locale":"de"}},"b":5},"#
          + #""sort":{"a":{"$order":-1,"$collation":{"locale":"de"}},"b":{"$order":1,"$collation":{"locale":"de"}}}}"#
      ),
      (
        #"{"a":{"$gt":"x","$lt":5,"$collation":{"locale":"sv","ignoreCase":true}}}"#,
        #"{"collation":"de"}"#,
        #"{"filter":{"a":{"$gt":"x","$lt":5,"$collation":{"locale":"sv","ignoreCase":true}}}}"#
      ),
    ])
  func prints(filter: String, modifiers: String, expected: String) throws {
    let query = try Query(filter: filter, modifiers: modifiers)
    #expect(query.text == expected)
    let object = try #require(JSONValue(parsing: expected).objectValue)
    let again = try Query(filter: object["filter"]?.text)
    #expect(again.filter == query.filter)
  }

  @Test(
    "what is no order by language is refused, and says where",
    arguments: [
      (#"{"collation":5}"#, "a collation must be a locale", 1),
      (#"{"collation":{"locale":"xx"}}"#, "no order is known for the locale xx", 1),
      (#"{"collation":{"ignoreCase":true}}"#, "a collation needs a locale", 1),
      (#"{"collation":{"locale":""}}"#, "a collation needs a locale", 1),
      (
        #"{"collation":{"locale":"de","ignoreAccents":true}}"#, "ignoreAccents needs ignoreCase", 28
      ),
      (#"{"collation":{"locale":"de","strength":1}}"#, "a collation has locale, and", 28),
      (#"{"collation":{"locale":"de","numeric":true}}"#, "unknown member numeric", 28),
      (#"{"sort":{"a":{"$collation":"de","$order":2}}}"#, "a sort direction must be 1 or -1", 32),
      (#"{"sort":{"a":{"$collation":"de","$x":2}}}"#, "unknown member $x of a sort key", 32),
    ])
  func refuses(modifiers: String, message: String, position: Int) {
    #expect {
      _ = try Query(filter: nil, modifiers: modifiers)
    } throws: { error in
      guard let error = error as? QueryError else { return false }
      return error.message.contains(message) && error.position == position
    }
  }

  @Test(
    "in filters as well",
    arguments: [
      #"{"a":{"$collation":"de"}}"#, #"{"$collation":"de","a":"x"}"#,
      #"{"a":{"$eq":"x","$collation":"xx"}}"#,
    ])
  func refuses(filter: String) {
    #expect(throws: QueryError.self) { try Query(filter: filter) }
  }

  @Test("no other backend is asked for it, but for all that may be selected") func remote() throws {
    let filter = #"{"a":"x","b":{"$gt":5}}"#
    let query = try Query(filter: filter, modifiers: #"{"collation":"de","limit":1}"#)
    #expect(!query.isRemote)
    #expect(query.remoteSuperset.text == #"{"filter":{"b":{"$gt":5}}}"#)
    let sorted = try Query(filter: nil, modifiers: #"{"sort":{"a":1},"collation":"de"}"#)
    #expect(!sorted.isRemote)
    #expect(sorted.remoteSuperset.text == "{}")
    // Our server is asked for all of it.
    #expect(query.isRemote(withCollations: true) && sorted.isRemote(withCollations: true))
    let members = try Query(format: "a > b", modifiers: #"{"collation":"de"}"#)
    #expect(!members.isRemote(withCollations: true))
  }

  @Test("a query that was read lately is another one with another order") func shared() throws {
    let recent = RecentQueries()
    let first = try Query.shared(filter: #"{"a":"é"}"#, modifiers: #"{"collation":"de"}"#)
    let second = try Query.shared(filter: #"{"a":"f"}"#, modifiers: #"{"collation":"de"}"#)
    let third = try Query.shared(filter: #"{"a":"f"}"#)
    #expect(first.filterText == #"{"a":{"$eq":"é","$collation":{"locale":"de"}}}"#)
    #expect(second.filterText == #"{"a":{"$eq":"f","$collation":{"locale":"de"}}}"#)
    #expect(third.filterText == #"{"a":"f"}"#)
    withExtendedLifetime(recent) {}
  }

  @Test("indexes in the order of code points neither select nor order texts of a language")
  func plans() throws {
    let spec = try #require(try? IndexSpec(parsing: #"{"keys":{"a":1}}"#))
    let index = UsableIndex(spec, table: "x", shape: .plain)
    for (filter, modifiers) in [
      (#"{"a":"x"}"#, #"{"collation":"de"}"#), (#"{"a":{"$gt":"x"}}"#, #"{"collation":"de"}"#),
      ("{}", #"{"sort":{"a":1},"limit":5,"collation":"de"}"#),
    ] {
      let query = try Query(filter: filter, modifiers: modifiers)
      #expect(SQLSelection(query, table: "t", indexes: [index]).indexNames == [])
    }
    let numbers = try Query(filter: #"{"a":{"$gt":5}}"#, modifiers: #"{"collation":"de"}"#)
    #expect(SQLSelection(numbers, table: "t", indexes: [index]).indexNames.count == 1)
    let ids = try Query(filter: nil, modifiers: #"{"sort":{"_id":1},"collation":"de"}"#)
    #expect(ids.walk == nil)
    #expect(!SQLSelection(ids, table: "t").orderParameters.isEmpty)
  }
}
