import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// SQLite takes 500 SELECTs in a compound one, expressions 1000 deep, and a limited number of parameters.
@Suite("Large queries") struct LargeQueriesTests {
  private let directory = TemporaryDirectory()
  private let storage: Storage

  init() throws { storage = try openStorage(in: directory) }

  private func fill(_ count: Int) throws {
    try storage.store(
      (0..<count).map {
        #"{"_id":"k\#($0)","a":\#($0),"b":"b\#($0 % 10)","t":"w\#($0) word","_geoloc":[\#($0 / 10),1],"l":[\#($0),1]}"#
      })
  }

  private static func list(_ count: Int, _ one: (Int) -> String) -> String {
    (0..<count).map(one).joined(separator: ",")
  }

  private static let filters = [
    #"{"$or":[\#(list(501) { #"{"a":\#($0 * 2)}"# })]}"#,
    #"{"$or":[\#(list(5_000) { #"{"a":\#($0 * 2)}"# })]}"#,
    #"{"$or":[\#(list(1000) { #"{"\#($0 % 2 == 0 ? "a" : "b")":\#($0)}"# }),{"b":"b3"}]}"#,
    #"{"$or":[\#(list(501) { #"{"a":{"$gte":\#($0 * 3),"$lt":\#($0 * 3 + 1)}}"# })]}"#,
    #"{"b":"b1","$or":[\#(list(501) { #"{"a":{"$gt":\#($0 * 3)}}"# })]}"#,
    #"{"$or":[\#(list(300) { at in #"{"a":{"$in":[\#(list(120) { "\($0 * at)" })]},"b":"b\#(at)"}"# })]}"#,
    #"{"$or":[\#(list(501) { #"{"b":{"$regex":"^b\#($0)"}}"# })]}"#,
    #"{"$or":[\#(list(501) { #"{"$or":[{"a":\#($0)},{"l":\#($0)}]}"# })]}"#,
    #"{"$and":[\#(list(501) { #"{"a":{"$gte":\#($0 % 100)}}"# })]}"#,
    #"{"$and":[\#(list(5_000) { #"{"a":{"$lt":\#(6_000 - $0)}}"# })],"b":"b1"}"#,
    #"{"$and":[\#(list(501) { #"{"b":{"$in":["b1","b\#($0)"]}}"# })]}"#,
    #"{"a":{"$in":[\#(list(501) { "\($0 * 2)" })]}}"#,
    #"{"a":{"$in":[\#(list(40_000) { "\($0 * 2)" })]}}"#,
    #"{"a":{"$in":[\#(list(500) { "\($0)" })]},"b":{"$in":[\#(list(500) { #""b\#($0)""# })]}}"#,
    #"{"t":{"$text":{"$search":"\#(list(3_000) { "w\($0 * 2)" })"}}}"#,
    #"{"t":{"$text":{"$search":"\#(list(250) { #"\"w\#($0) word\""# })"}}}"#,
    #"{"$or":[\#(list(501) { #"{"_geoloc":{"$geoWithin":{"$centerSphere":[[\#($0 % 30),1],0.001]}}}"# })]}"#,
    #"{"_id":{"$in":[\#(list(501) { #""k\#($0 * 2)""# })]}}"#,
    #"{"_id":{"$in":[\#(list(40_000) { #""k\#($0 * 2)""# })]},"b":"b2"}"#,
    #"{"$nor":[\#(list(501) { #"{"a":\#($0 * 2)}"# })]}"#,
  ]

  @Test(
    "that work without an index work with one, and have the same answer", arguments: filters.indices
  )
  func work(index: Int) throws {
    try fill(100)
    let filter = Self.filters[index]
    let queries = try [nil, #"{"sort":{"a":-1},"limit":20}"#].map { try query(filter, $0) }
    let answers = try queries.map { try storage.find($0) }
    let count = try storage.count(queries[0], in: "c", writtenSince: nil)
    #expect(count == answers[0].count)
    for keys in [
      #"{"a":1}"#, #"{"b":1,"a":-1}"#, #"{"l":1}"#, #"{"t":"text"}"#, #"{"_geoloc":"2dsphere"}"#,
    ] {
      try storage.createIndex(keys)
      for (query, answer) in zip(queries, answers) {
        #expect(try storage.find(query) == answer, "\(keys) \(filter.prefix(100))")
      }
      #expect(try storage.count(queries[0], in: "c", writtenSince: nil) == count)
      _ = try storage.explain(queries[0], in: "c")
    }
  }

  @Test("of many alternatives for one member take an index", arguments: [2, 501])
  func alternatives(count: Int) throws {
    try fill(300)
    try storage.createIndex(#"{"a":1}"#)
    let filter = #"{"$or":[\#(Self.list(count) { #"{"a":\#($0)}"# })]}"#
    let explanation = try storage.explained(filter)
    #expect(explanation.access == (count > 500 ? .scan : .index))
    #expect(explanation.returned == min(count, 300))
  }

  @Test(
    "of ids read these, whatever else they ask for",
    arguments: [
      (#"{"_id":"k5","a":5}"#, 1, 1, false), (#"{"_id":"k5","a":6}"#, 1, 0, false),
      (#"{"a":5,"_id":{"$in":["k5","k6","none"]}}"#, 2, 1, false),
      (#"{"$and":[{"a":{"$gt":1}},{"_id":{"$in":["k1","k2"]}}]}"#, 2, 1, false),
      (#"{"_id":{"$in":["k1","k2","k3"]},"$and":[{"_id":"k2"}]}"#, 1, 1, false),
      (#"{"_id":{"$eq":"k5","$ne":"k5"}}"#, 1, 0, false),
      (#"{"_id":"k5"}"#, 1, 1, true),
      (#"{"_id":{"$in":["k1","k2",7,null,"k1\u0000"]}}"#, 2, 2, true),
      (#"{"_id":7}"#, 0, 0, true), (#"{"_id":{"$in":[]}}"#, 0, 0, true),
    ])
  func byID(filter: String, examined: Int, returned: Int, isExact: Bool) throws {
    try fill(300)
    try storage.createIndex(#"{"a":1}"#)
    for modifiers in [nil, #"{"sort":{"a":1},"limit":5}"#] {
      let explanation = try storage.explained(filter, modifiers)
      #expect(explanation.access == .ids)
      #expect((explanation.examined, explanation.returned) == (examined, returned))
      #expect(explanation.isExact == isExact)
      #expect(!explanation.steps.contains { $0.utf8.starts(with: "SCAN e".utf8) })
    }
  }

  @Test("of more ids than an index leaves entities take the index")
  func manyIDs() throws {
    try fill(300)
    try storage.createIndex(#"{"a":1}"#)
    let ids = Self.list(1000) { #""k\#($0)""# }
    let explanation = try storage.explained(#"{"_id":{"$in":[\#(ids)]},"a":5}"#)
    #expect(explanation.access == .index)
    #expect((explanation.examined, explanation.returned) == (1, 1))
  }
}
