import KVQuery
import Testing

@Suite("Quick decisions of the matcher") struct FastPathTests {
  private static let values = [
    #""US""#, #""\u0055S""#, #""U\u0053""#, #""USA""#, #""""#, "1", "1.0", "2", "true", "null",
    "[]",
    #"["US"]"#, #"["\u0055S",1]"#, #"{"b":"US"}"#, #"{"b":1}"#, #"{"\u0062":"US"}"#,
    #"[{"b":"US"},{"b":2}]"#, #"{"b":["US"]}"#, #"{"c":{"b":"US"}}"#, #"{"c":"US","b":"x"}"#,
    #""a\\US""#,
    #"{"b":{"c":null}}"#, #""a text of more than thirty-two bytes that ends with US""#,
  ]
  private static let operands = [
    #""US""#, "1", "true", "null", #"{"$gt":1}"#, #"{"$lt":"USA"}"#, #"{"$gte":"","$lt":"V"}"#,
    #""a\\US""#, #""""#,
    #""a text of more than thirty-two bytes that ends with US""#,
    #""a text of more than thirty-two bytes that ends otherwise""#,
  ]
  private static let paths = ["a", "a.b", "a.c.b", "a.b.c", "a.0", "a.", "d"]

  @Test("they are those of the predicate negated twice, which is never decided quickly")
  func agrees() throws {
    for path in Self.paths {
      for operand in Self.operands {
        let filter = #"{"\#(path)":\#(operand),"e":{"$lt":3}}"#
        let quick = try #require(try Query(filter: filter).matcher)
        let slow = try #require(try Query(filter: #"{"$nor":[{"$nor":[\#(filter)]}]}"#).matcher)
        for value in Self.values {
          for entity in [#"{"_id":"x","a":\#(value),"e":1}"#, #"{"e":2,"d":\#(value),"":{"":1}}"#] {
            let bytes = Array(entity.utf8)
            let (found, wanted) = (try quick.matches(bytes), try slow.matches(bytes))
            #expect(found == wanted, "\(filter) of \(entity)")
          }
        }
      }
    }
  }

  @Test("a text is found wherever it stands in an entity", arguments: 0..<70)
  func findsEverywhere(before: Int) throws {
    let matcher = try #require(try Query(filter: #"{"name":"needle"}"#).matcher)
    let padding = String(repeating: "n", count: before)
    for after in [0, 1, 15, 16, 17, 40] {
      let end = String(repeating: "e", count: after)
      func entity(_ name: String) -> [UInt8] {
        Array(#"{"a":"\#(padding)","name":"\#(name)","z":"\#(end)"}"#.utf8)
      }
      #expect(try matcher.matches(entity("needle")))
      #expect(try matcher.matches(entity(#"needl\u0065"#)))
      #expect(try !matcher.matches(entity("needla")))
      #expect(try !matcher.matches(entity("nneedle")))
    }
  }

  @Test("a query that is made of the same texts again is the same query, with what was made of it")
  func sharesQueries() throws {
    final class Made: Sendable {}
    let made = Made()
    let (filter, modifiers) = (#"{"shared":{"$exists":true}}"#, #"{"limit":3}"#)
    let recent = RecentQueries()
    defer { withExtendedLifetime(recent) {} }
    try Query.shared(filter: filter, modifiers: modifiers).memo.keep(made)
    let again = try Query.shared(filter: filter, modifiers: modifiers)
    #expect(again.memo.object === made)
    #expect(try again == Query(filter: filter, modifiers: modifiers))
    #expect(try Query.shared(filter: filter).memo.object == nil)
    #expect(throws: QueryError.self) { try Query.shared(filter: "{") }
  }
}
