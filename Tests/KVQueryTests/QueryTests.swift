import KVJSON
@testable import KVQuery
import Testing

@Suite("Query") struct QueryTests {
  @Test(
    "prints filters canonically, and reads back what it prints",
    arguments: [
      (#"{}"#, #"{}"#), (#" { "a" : 1 } "#, #"{"a":1}"#), (#"{"a":{"$eq":1}}"#, #"{"a":1}"#),
      (#"{"a":{"$eq":{"$x":1}}}"#, #"{"a":{"$eq":{"$x":1}}}"#),
      (#"{"a":1,"b":2}"#, #"{"a":1,"b":2}"#),
      (#"{"$and":[{"a":1},{"b":2}]}"#, #"{"a":1,"b":2}"#),
      (#"{"$and":[{"a":1},{"a":2}]}"#, #"{"$and":[{"a":1},{"a":2}]}"#),
      (#"{"a":{"$gte":1,"$lt":5}}"#, #"{"a":{"$gte":1,"$lt":5}}"#),
      (
        #"{"$or":[{"a":1},{"b":{"$ne":null}}],"c":{"$in":[]}}"#,
        #"{"$or":[{"a":1},{"b":{"$ne":null}}],"c":{"$in":[]}}"#
      ),
      (#"{"a":{"$not":{"$size":0}}}"#, #"{"a":{"$not":{"$size":0}}}"#),
      (#"{"a":{"$options":"si","$regex":"x"}}"#, #"{"a":{"$regex":"x","$options":"is"}}"#),
      (
        #"{"a":{"$elemMatch":{"b":1}},"c":{"$all":[{"$elemMatch":{"$gt":1}}]}}"#,
        #"{"a":{"$elemMatch":{"b":1}},"c":{"$all":[{"$elemMatch":{"$gt":1}}]}}"#
      ),
      (
        #"{"a":{"$type":16,"$exists":1,"$mod":[4.0,1.9]}}"#,
        #"{"a":{"$type":"int","$exists":true,"$mod":[4,1]}}"#
      ),
    ] as [(String, String)])
  func printsFilters(text: String, canonical: String) throws {
    let query = try Query(filter: text)
    #expect(query.filterText == canonical)
    #expect(try Query(filter: canonical) == query)
  }

  @Test(
    "says where a filter is wrong",
    arguments: [
      (#"[]"#, 0), (#"{"$foo":1}"#, 1), (#"{"a":{"$foo":1}}"#, 6), (#"{"a":1,"$or":[]}"#, 7),
      (#"{"$and":[{"a":1},7]}"#, 17), (#"{"a":{"$in":1}}"#, 6),
      (#"{"a":{"$in":[1,{"$gt":1}]}}"#, 15),
      (#"{"a":{"$size":-1}}"#, 6), (#"{"a":{"$size":"x"}}"#, 6), (#"{"a":{"$mod":[0,1]}}"#, 6),
      (#"{"a":{"$type":"foo"}}"#, 6), (#"{"a":{"$regex":1}}"#, 6), (#"{"a":{"$regex":"("}}"#, 6),
      (#"{"a":{"$regex":"x","$options":"q"}}"#, 19), (#"{"a":{"$options":"i"}}"#, 6),
      (#"{"a":{"$not":5}}"#, 6), (#"{"a":{"$gt":1,"b":2}}"#, 14), (#"{"a":{"$elemMatch":1}}"#, 6),
      (#"{"a":{"$all":[{"$elemMatch":{}},1]}}"#, 32), (#"{"a":{"$exists":"x"}}"#, 6),
    ] as [(String, Int)])
  func saysWhere(text: String, position: Int) throws {
    let error = try #require(throws: QueryError.self) { try Query(filter: text) }
    #expect(error.kind == .syntax)
    #expect(error.position == position, "\(error.message)")
  }

  @Test("tells a text that is no JSON, or nested too deeply") func tellsBadJSON() throws {
    #expect(throws: QueryError(.json, "the JSON text ends too early", at: 5)) {
      try Query(filter: #"{"a":"#)
    }
    let deep = String(repeating: #"{"$and":["#, count: 10_000)
    #expect(throws: QueryError.self) { try Query(filter: deep) }
    let closed =
      String(repeating: #"{"$and":["#, count: 300) + "{}" + String(repeating: "]}", count: 300)
    #expect(throws: QueryError.self) { try Query(filter: closed) }
  }

  @Test("reads and prints modifiers") func readsModifiers() throws {
    let text = #"{"filter":{"a":1},"sort":{"b":-1,"a":1},"skip":2,"limit":4,"fields":["a","b.c"]}"#
    let query = try Query(
      filter: #"{"a":1}"#,
      modifiers: #"{"fields":["a","b.c"],"limit":4,"skip":2,"sort":{"b":-1,"a":1}}"#)
    #expect(query.text == text)
    #expect(query.sortText == #"{"b":-1,"a":1}"#)
    #expect(query.fieldsText == "a,b.c")
    #expect(try Query(filter: nil, modifiers: nil).text == "{}")
  }

  @Test("a limit of 0 is none") func zeroLimit() throws {
    for modifiers in [#"{"limit":0}"#, #"{"limit":null}"#] {
      let query = try Query(filter: nil, modifiers: modifiers)
      #expect(query.limit == nil && query.text == "{}")
    }
  }

  @Test(
    "says where modifiers are wrong",
    arguments: [
      (#"[]"#, 0), (#"{"sort":{"a":2}}"#, 9), (#"{"skip":-1}"#, 1), (#"{"limit":1.5}"#, 1),
      (#"{"x":1}"#, 1),
      (#"{"fields":["a",7]}"#, 15), (#"{"sort":["a"]}"#, 1), (#"{"skip":1e300}"#, 1),
    ] as [(String, Int)])
  func saysWhereModifiers(text: String, position: Int) throws {
    let error = try #require(throws: QueryError.self) { try Query(filter: nil, modifiers: text) }
    #expect(error.position == position)
  }

  @Test("knows the ids that it asks for") func knowsIds() throws {
    func named(_ filter: String) throws -> Query.NamedIDs? { try Query(filter: filter).namedIDs }
    #expect(try named(#"{"_id":"x"}"#) == .init(ids: ["x"], isExact: true))
    #expect(try named(#"{"_id":{"$in":["x","y"]}}"#) == .init(ids: ["x", "y"], isExact: true))
    #expect(try named(#"{"_id":"x","a":1}"#) == .init(ids: ["x"], isExact: false))
    for filter in [#"{"_id":{"$gt":"x"}}"#, #"{"$or":[{"_id":"x"},{"a":1}]}"#, "{}"] {
      #expect(try named(filter) == nil)
    }
  }

  @Test("of alternatives that are values of one member looks these up") func alternatives() throws {
    let filter =
      #"{"$or":[{"a":1},{"b":2},{"$or":[{"a":{"$in":[2,3]}},{"c":{"$gt":1}}]},{"a":null}]}"#
    guard case .or(let parts) = try Query(filter: filter).filter else {
      Issue.record("no alternatives")
      return
    }
    let merged = Predicate.merged(alternatives: parts).map(\.json.text)
    #expect(merged == [#"{"a":{"$in":[1,2,3,null]}}"#, #"{"b":2}"#, #"{"c":{"$gt":1}}"#])
  }
}
