import KVQuery
import Testing

/// What strangers may write. Each is an error that says where, whether or not there is data.
@Suite("Bad input") struct BadInputTests {
  @Test(
    "in a format is an error with a position",
    arguments: [
      // Parentheses, braces and quotes that do not balance.
      "(a = 1", "a = 1)", "((a = 1)", "a IN {1, 2", "a IN 1}", "a[0 = 1", "a = \"x", "a = 'x\\'",
      "SUBQUERY(a, $x, $x.b = 1.@count > 0", "abs(a = 1",
      // Arguments that are missing, too many, or of the wrong kind.
      "a = %@", "%K = 1", "a = %d AND b = %f", "a = $low", "a = %", "a = %y",
      // Operators and functions that nobody knows.
      "a === 1", "a ~= 1", "a <=> 1", "a SOUNDSLIKE 'x'", "frobnicate(a) = 1", "a.@median.b = 1",
      "a ==[q] 'x'", "a := 1",
      // Regular expressions that are none.
      "a MATCHES '('", "a MATCHES '[z-a]'", "a MATCHES '*'", "a MATCHES '\\\\'",
      "a MATCHES 'x{2,1}'",
      // Numbers that do not fit.
      "a = 1e999", "a = 0xFFFFFFFFFFFFFFFFF", "a = 1e", "CAST('x', 'NSDate') = a",
    ])
  func ofFormats(format: String) throws {
    let error = try #require(throws: QueryError.self) { try Query(format: format) }
    #expect(error.kind == .syntax)
    let position = try #require(error.position)
    #expect((0...format.utf8.count).contains(position), "\(error.message) at \(position)")
    #expect(!error.message.isEmpty)
  }

  @Test(
    "in a filter is an error with a position",
    arguments: [
      "{", "[", "}", #"{"a":1"#, #"{"a":1}}"#, #"{"a":[1}"#, #"{"a":"x"#, "7", "null", #""a""#,
      #"{"a":{"$gtt":1}}"#, #"{"$xor":[{"a":1}]}"#, #"{"$where":"true"}"#, #"{"a":1}x"#,
      #"{"a":{"$regex":"("}}"#, #"{"a":{"$regex":"[z-a]"}}"#, #"{"a":{"$regex":"x{2,1}"}}"#,
      #"{"a":NaN}"#, #"{"a":Infinity}"#, #"{"a":-Infinity}"#, #"{"a":1e999}"#,
      #"{"a":01}"#, #"{"a":.5}"#, #"{"a":{"$mod":[1e300,1]}}"#,
      #"{"a":{"$size":1e300}}"#, #"{"a":{"$type":1e300}}"#, #"{"a":1,"a":2}"#,
      #"{"a":{"$geoWithin":{"$box":[[0,0]]}}}"#, #"{"a":{"$nearSphere":[0]}}"#,
    ])
  func ofFilters(filter: String) throws {
    let error = try #require(throws: QueryError.self) { try Query(filter: filter) }
    let position = try #require(error.position)
    #expect((0...filter.utf8.count).contains(position), "\(error.message) at \(position)")
  }

  @Test(
    "nested 10,000 deep is an error with a position, whatever it is nested in",
    arguments: [
      ("(", "a = 1", ")"), ("NOT (", "a = 1", ")"), ("{", "1", "}"), ("abs(", "a", ") = 1"),
      ("a[", "0", "] = 1"), ("ANY ", "a = 1", ""), ("SUBQUERY(a, $x, ", "a = 1", ").@count = 1"),
      ("TERNARY(", "a = 1", ", 1, 2) = 1"), ("1 + (", "a", ")"),
    ] as [(String, String, String)])
  func deepFormats(opening: String, inner: String, closing: String) throws {
    let format = nested(opening, inner: inner, closing: closing)
    let error = try #require(throws: QueryError.self) { try Query(format: format) }
    #expect(error.kind == .syntax && error.position != nil, "\(error.message)")
  }

  @Test(
    "nested 10,000 deep in a filter is an error with a position",
    arguments: [
      (#"{"$and":["#, "{}", "]}"), (#"{"$nor":["#, #"{"a":1}"#, "]}"), (#"{"a":"#, "1", "}"),
      (#"{"a":{"$elemMatch":"#, #"{"b":1}"#, "}}"), (#"{"a":{"$not":"#, #"{"$gt":1}"#, "}}"),
      (#"{"a":{"$in":["#, "1", "]}}"), (#"{"a":["#, "1", "]}"),
    ] as [(String, String, String)])
  func deepFilters(opening: String, inner: String, closing: String) throws {
    let filter = nested(opening, inner: inner, closing: closing)
    let error = try #require(throws: QueryError.self) { try Query(filter: filter) }
    #expect(error.position != nil, "\(error.message)")
  }

  @Test("among a format's arguments is an error with a position in them") func ofArguments() throws
  {
    for arguments in ["[NaN]", "[1e999]", "[1", "[1]]", "{", #"{"arguments":1}"#, "[[[[[[["] {
      let error = try #require(throws: QueryError.self) {
        try Query(format: "a = %@", arguments: arguments)
      }
      let position = try #require(error.position, "\(arguments): \(error.message)")
      #expect((0...arguments.utf8.count).contains(position))
    }
  }

  @Test("that makes other engines hang has an answer, or ends with an error")
  func catastrophes() throws {
    let entity = Array(#"{"a":"\#(String(repeating: "a", count: 5000))!"}"#.utf8)
    for query in [
      try Query(filter: #"{"a":{"$regex":"^(a+)+$"}}"#),
      try Query(filter: #"{"a":{"$regex":"(a|aa)*b\\1"}}"#),
      try Query(filter: #"{"a":{"$regex":"^(([a-z])+.)+[A-Z]([a-z])+$"}}"#),
      try Query(format: #"a MATCHES "(.*)*x""#),
      try Query(format: #"a MATCHES[d] "(.*a){20}x""#),
      try Query(format: #"a LIKE "*a*a*a*a*a*a*a*a*a*a*b""#),
    ] {
      do throws(QueryError) {
        #expect(try !Matcher(query.filter).matches(entity))
      } catch {
        #expect(error.kind == .budget)
      }
    }
  }

  private func nested(_ opening: String, inner: String, closing: String) -> String {
    String(repeating: opening, count: 10_000) + inner + String(repeating: closing, count: 10_000)
  }
}
