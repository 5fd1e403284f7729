import KVBase
import KVQuery
import Testing

@Suite("Matcher within a budget") struct MatcherBudgetTests {
  @Test(
    "stops between entities, terms and elements once the budget is exhausted",
    arguments: [
      #"{"a":1}"#, #"{"a":1,"b":"x"}"#, #"{"$or":[{"a.b":1},{"b.c":2}]}"#, #"{"$nor":[{"a.b":1}]}"#,
      #"{"a":{"$elemMatch":{"$gt":1,"$lt":3}}}"#, #"{"a":{"$elemMatch":{"b":1}}}"#,
      #"{"a":{"$all":[1,2]}}"#, #"{"a":{"$not":{"$gt":1}}}"#,
    ])
  func stops(filter: String) throws {
    let budget = WorkBudget(until: .never)
    let matcher = try #require(try Query(filter: filter).matcher(within: budget))
    let entity = Array(#"{"a":[{"b":[1]},5],"b":{"c":2}}"#.utf8)
    _ = try matcher.matches(entity)
    budget.cancel()
    #expect(throws: QueryError.exhausted) { try matcher.matches(entity) }
  }

  @Test("a long predicate over one long array ends soon after its time is over")
  func oneLongEntity() throws {
    let values = (1...5_000).map { String(-$0) }.joined(separator: ",")
    let elements = (1...20_000).map(String.init).joined(separator: ",")
    let entity = Array((#"{"a":["# + elements + "]}").utf8)
    for filter in [
      #"{"a":{"$all":["# + "1," + values + "]}}",
      #"{"a":{"$elemMatch":{"$not":{"$in":[0]},"$nin":["# + values + "]}}}",
    ] {
      let budget = WorkBudget(until: .after(seconds: 0))
      let matcher = try #require(try Query(filter: filter).matcher(within: budget))
      #expect(throws: QueryError.exhausted) {
        while true { _ = try matcher.matches(entity) }
      }
    }
  }
}
