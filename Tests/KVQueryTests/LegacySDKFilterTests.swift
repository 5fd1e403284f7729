import KVJSON
import KVQuery
import Testing

/// The table of what the original client makes of predicates, row by row, broken rows included.
@Suite("What the original client sends") struct LegacySDKFilterTests {
  @Test(
    "is available for every kind of predicate",
    arguments: [
      ("k = 1", #"{"k":1}"#), ("k == 'v'", #"{"k":"v"}"#), ("k != 1", #"{"k":{"$ne":1}}"#),
      ("k <> 1", #"{"k":{"$ne":1}}"#), ("k < 1", #"{"k":{"$lt":1}}"#),
      ("k =< 1", #"{"k":{"$lte":1}}"#), ("k > 1", #"{"k":{"$gt":1}}"#),
      ("k => 1", #"{"k":{"$gte":1}}"#), ("k IN {1, 'x'}", #"{"k":{"$in":[1,"x"]}}"#),
      ("k IN 'x'", #"{"k":{"$in":["x"]}}"#),
      ("k BETWEEN {1, 5}", #"{"$and":[{"k":{"$gte":1}},{"k":{"$lte":5}}]}"#),
      ("k BEGINSWITH 'a.b'", #"{"k":{"$regex":"^a.b"}}"#),
      ("k CONTAINS 'a.b'", #"{"k":{"$regex":".*a.b.*"}}"#),
      ("k ENDSWITH 'v'", #"{"k":{"$regex":".*v"}}"#),
      ("k LIKE 'a*'", #"{"k":{"$regex":"/(a*)/"}}"#), ("k MATCHES 'v+'", #"{"k":{"$regex":"v+"}}"#),
      ("k.@count > 3", #"{"k":{"$size":3}}"#), ("3 < k.@count", #"{"k":{"$size":3}}"#),
      ("k = nil", #"{"k":null}"#), ("a = 1 AND b = 2", #"{"a":1,"b":2}"#),
      ("a > 1 AND a < 5", #"{"$and":[{"a":{"$gt":1}},{"a":{"$lt":5}}]}"#),
      ("(a = 1 AND b = 2) AND c = 3", #"{"$and":[{"a":1,"b":2},{"c":3}]}"#),
      ("a = 1 OR b LIKE 'x'", #"{"$or":[{"a":1},{"b":{"$regex":"/(x)/"}}]}"#),
      ("NOT k = 1", #"{"k":{"$not":{"$eq":1}}}"#), ("NOT k IN {1}", #"{"k":{"$not":{"$in":[1]}}}"#),
      ("NOT k MATCHES 'v'", #"{"k":{"$not":{"$regex":"v"}}}"#),
      ("NOT k CONTAINS 'v'", #"{"$not":[{"k":{"$regex":".*v.*"}}]}"#),
      ("NOT (a = 1 OR b = 2)", #"{"$not":[{"$or":[{"a":1},{"b":2}]}]}"#),
      ("k ==[c] 'V'", #"{"k":"V"}"#), ("ANY k.l > 3", #"{"k.l":{"$gt":3}}"#),
      ("acl.readers = 'u'", #"{"_acl.r":"u"}"#), ("TRUEPREDICATE", "{}"),
      // What it cannot send, or crashes on, is sent as always.
      ("5 < k", #"{"k":{"$gt":5}}"#), ("'x' IN k", #"{"k":"x"}"#), ("k[1] = 5", #"{"k.1":5}"#),
      ("k[SIZE] = 2", #"{"k":{"$size":2}}"#), ("k CONTAINS 5", #"{"k":5}"#),
    ] as [(String, String)])
  func row(format: String, filter: String) throws {
    #expect(try Query(format: format).originalFilter.text == filter)
  }

  @Test("has the places of regions") func regions() throws {
    let circle = #"[{"$circle":{"center":[13.5,52.5],"radius":6371000}}]"#
    #expect(
      try Query(format: "p = %@", arguments: circle).originalFilter.text
        == #"{"p":{"$geoWithin":{"$centerSphere":[[13.5,52.5],1.0]}}}"#)
  }

  @Test("keeps what restricts the query, and an application's names") func restricted() throws {
    let keys: KeyMap = ["title": "t"]
    let query = try Query(format: "title LIKE %@", arguments: #"["x"]"#).renamed(by: keys)
    #expect(query.originalFilter.text == #"{"t":{"$regex":"/(x)/"}}"#)
    #expect(query.selection.originalFilter == query.originalFilter)
    let page = query.and(.field(.id, [.compare(.greater, .string("a"))]))
    #expect(page.originalFilter.text == #"{"t":{"$regex":"/(x)/"},"_id":{"$gt":"a"}}"#)
  }

  @Test("is what we send of filters, of changed queries, and of what has to be finished here")
  func ours() throws {
    let filter = try Query(filter: #"{"a":{"$regex":"^x"}}"#)
    #expect(filter.originalFilter == filter.filter.json)
    var changed = try Query(format: "a LIKE 'x'")
    changed.filter = filter.filter
    #expect(changed.originalFilter == filter.filter.json)
    let finished = try Query(format: "a LIKE 'x' AND b > c")
    #expect(finished.originalFilter == finished.filter.json)
  }
}
