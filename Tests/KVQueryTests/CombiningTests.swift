import KVJSON
import Testing

@testable import KVQuery

@Suite("Combined queries") struct CombiningTests {
  private let big = try? Query(filter: #"{"n":{"$gt":5}}"#, modifiers: #"{"limit":1}"#)
  private let red = try? Query(format: "colour == 'red'", arguments: nil, modifiers: nil)

  private func ids(_ query: Query) throws -> [Int] {
    let things = [
      #"{"n":1,"colour":"red"}"#, #"{"n":9,"colour":"red"}"#, #"{"n":9,"colour":"blue"}"#, "{}",
    ]
    let matcher = Matcher(query.filter)
    return try things.indices.filter { try matcher.matches(Array(things[$0].utf8)) }
  }

  @Test("select what all, some, or not the one select, and have modifiers of their own")
  func combinations() throws {
    let (big, red) = (try #require(big), try #require(red))
    #expect(try ids(Query(.and, of: [big, red])) == [1])
    #expect(try ids(Query(.or, of: [big, red])) == [0, 1, 2])
    #expect(try ids(Query(.not, of: [big])) == [0, 3])
    #expect(try ids(Query(.not, of: [Query(.not, of: [big])])) == [1, 2])
    #expect(try ids(Query(.and, of: [Query(), red])) == [0, 1])
    #expect(
      try Query(.and, of: [big], modifiers: #"{"skip":2}"#).text
        == #"{"filter":{"n":{"$gt":5}},"skip":2}"#)
    #expect(try Query(.or, of: [big, red]).limit == nil)
  }

  @Test("of nothing, of two for \"not\", and with no modifiers are refused")
  func refused() throws {
    let big = try #require(big)
    #expect(throws: QueryError.self) { try Query(.and, of: []) }
    #expect(throws: QueryError.self) { try Query(.not, of: [big, big]) }
    #expect(throws: QueryError.self) { try Query(.and, of: [big], modifiers: "{") }
  }

  @Test("that go wild are refused before they fill the memory or the stack")
  func wild() throws {
    var doubled = try #require(big)
    #expect(throws: QueryError.self) {
      while true { doubled = try Query(.and, of: [doubled, doubled]) }
    }
    var deep = try #require(big)
    let red = try #require(red)
    #expect(throws: QueryError.self) {
      while true { deep = try Query(.or, of: [red, Query(.and, of: [red, deep])]) }
    }
  }
}
