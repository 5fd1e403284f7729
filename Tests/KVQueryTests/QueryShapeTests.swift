import KVQuery
import KVTestSupport
import Testing

/// Queries of one shape are made without parsing, and are the same as if their texts were parsed.
@Suite("Query shapes") struct QueryShapeTests {
  private static let filters = [
    #"{"a":@}"#, #"{"a":{"$eq":@}}"#, #"{"a":{"$ne":@}}"#, #"{"a":{"$gte":@,"$lt":@}}"#,
    #"{ "a.b" : { "$gt" : @ } , "c":@,"d":null,"e":true}"#, #"{"$and":[{"a":@},{"b":@}]}"#,
    #"{"a":{"$in":[@,@]}}"#, #"{"$or":[{"a":@},{"b":@}]}"#, #"{"a":{"$not":{"$gt":@}}}"#,
    #"{"a":{"b":@}}"#, #"{"a":[@]}"#, #"{"a":{"$size":@}}"#, #"{"a":{"$mod":[@,@]}}"#,
    #"{"a":{"$regex":@}}"#, #"{"$text":{"$search":@}}"#, #"{"a":{"$exists":@}}"#,
    #"{"a":@,"a":@}"#, #"{"a":@}}"#, #"{"a":@"#, #"{"a":@ @}"#, #"{@:@}"#, "@", "[@]", #"{"a" @}"#,
    #"{"a":{"$type":@}}"#, #"{"a":-@}"#, #"{"a":@.5}"#, #"{"$predicate":@}"#,
  ]
  private static let constants = [
    "0", "-0", "1", "7", "-12", "1.5", "-2.25", "1e3", "1E-2", "0.1", "123456789012345678",
    "1234567890123456789", "12345678901234567890", "01", "1.", ".5", "1e", "+1", "1e400", "-",
    #""""#, #""x""#, #""é""#, #""e\u0301""#, "\"e\u{301}\"", #""a\"b""#, #""$gt""#, "\"a\nb\"",
    "\"\u{1}\"", "\u{1}", "\u{2}", #""1""#, "null", "true", "{}", #""not closed"#,
  ]

  private static func result(
    _ make: () throws(QueryError) -> Query
  ) -> Result<Query, QueryError> {
    do throws(QueryError) { return .success(try make()) } catch { return .failure(error) }
  }

  @Test("a text that differs from another one in constants gives the query that it says")
  func agrees() {
    let recent = RecentQueries()
    defer { withExtendedLifetime(recent) {} }
    let seed = Seed()
    var random = seed
    func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    for run in 0..<4_000 {
      var filter = ""
      for character in Self.filters[below(Self.filters.count)].unicodeScalars {
        if character == "@" {
          // Mostly what has a shape.
          let count = below(4) == 0 ? Self.constants.count : 11
          filter += Self.constants[below(count)]
        } else {
          filter.unicodeScalars.append(character)
        }
      }
      let modifiers = below(2) == 0 ? nil : #"{"sort":{"a":1},"limit":20}"#
      let expected = Self.result { () throws(QueryError) in
        try Query(filter: filter, modifiers: modifiers)
      }
      let found = Self.result { () throws(QueryError) in
        try Query.shared(filter: filter, modifiers: modifiers)
      }
      #expect(found == expected, "\(seed), run \(run): \(filter)")
    }
  }

  @Test("a number and a text, null and a number are of different shapes; two numbers are of one")
  func tellsTypesApart() throws {
    let recent = RecentQueries()
    defer { withExtendedLifetime(recent) {} }
    func shape(_ filter: String) throws -> QueryShape {
      try #require(try Query.shared(filter: filter).memo.shape)
    }
    let number = try shape(#"{"tells":1,"other":null}"#)
    #expect(try shape(#"{"tells":-2.5e3,"other":null}"#) === number)
    #expect(try shape(#"{"tells":"1","other":null}"#) !== number)
    #expect(try shape(#"{"tells":1,"other":2}"#) !== number)
  }

  @Test("a query whose filter was changed has the shape no more")
  func forgetsShape() throws {
    let recent = RecentQueries()
    defer { withExtendedLifetime(recent) {} }
    var query = try Query.shared(filter: #"{"changed":1}"#)
    #expect(query.memo.shape != nil)
    query.filter = .everything
    #expect(query.memo.shape == nil)
    #expect(try Query.shared(filter: #"{"changed":2}"#).and(.nothing).memo.shape == nil)
  }
}
