import KVJSON
import KVQuery
import Testing

@Suite("A walk along the ids") struct WalkTests {
  private func walk(_ filter: String?, sort: String = #"{"_id":1}"#) throws -> Query.Walk? {
    try Query(filter: filter, modifiers: #"{"sort":\#(sort)}"#).walk
  }

  @Test("is a query in the order of ids, with its bounds apart") func bounds() throws {
    let all = try #require(try walk(nil))
    #expect(all.after == nil && all.last == nil && all.rest == .everything)
    let some = try #require(try walk(#"{"n":1,"_id":{"$gt":"a","$lte":"m"}}"#))
    #expect(some.after == "a" && some.last == "m")
    #expect(try Query(some.rest) == Query(filter: #"{"n":1}"#))
    let nested = try #require(
      try walk(#"{"$and":[{"_id":{"$gt":"a"}},{"_id":{"$gt":"b","$ne":"c"}}]}"#))
    #expect(nested.after == "a" && nested.last == nil)
    #expect(nested.rest.json.text == #"{"_id":{"$gt":"b","$ne":"c"}}"#)
  }

  @Test("leaves to the filter what is no bound of texts") func others() throws {
    for filter in [
      #"{"_id":{"$gt":7}}"#, #"{"_id":{"$lt":"m"}}"#, #"{"_id":{"$not":{"$gt":"a"}}}"#,
      #"{"$or":[{"_id":{"$gt":"a"}},{"n":1}]}"#, #"{"$nor":[{"_id":{"$gt":"a"}}]}"#,
    ] {
      let walk = try #require(try walk(filter))
      #expect(walk.after == nil && walk.last == nil)
      #expect(try Query(walk.rest) == Query(filter: filter))
    }
  }

  @Test(
    "is no query in another order",
    arguments: ["{}", #"{"_id":-1}"#, #"{"n":1}"#, #"{"n":1,"_id":1}"#])
  func order(sort: String) throws {
    #expect(try walk(#"{"_id":{"$gt":"a"}}"#, sort: sort) == nil)
  }
}
