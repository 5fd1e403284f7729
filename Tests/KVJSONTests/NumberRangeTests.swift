import KVJSON
import Testing

@Suite("Numbers beyond 64-bit floating point") struct NumberRangeTests {
  private static let manyDigits = String(repeating: "9", count: 400)
  /// With an exponent that is long, or brings back what its digits are too many for.
  private static let finite = [
    "1e308", "1.7976931348623157e308", "-1E+307", "5e-324", "1e-400", "0e999", "1e0000000000000005",
    "18446744073709551616", "-9223372036854775809", "1" + String(repeating: "0", count: 308),
    manyDigits + "e-300", "0." + String(repeating: "0", count: 400) + "1e500",
    manyDigits + "E-0000400",
  ]
  private static let infinite = [
    "1e309", "1.8e308", "-1e400", "1E+99999999999999999999", manyDigits, "-" + manyDigits,
    manyDigits + ".5", manyDigits + "e99", "2" + String(repeating: "0", count: 308),
  ]

  private func refusal(_ text: String) throws -> JSONError {
    try #require(throws: JSONError.self) {
      try EntityScanner.outline(of: Array(text.utf8), isInput: true)
    }
  }

  @Test("are refused where a program saves them", arguments: infinite)
  func refused(number: String) throws {
    let error = try refusal(#"{"a":[1,\#(number)]}"#)
    #expect(error.reason == .numberOutOfRange("a[1]"))
    #expect(error.message == "a[1]: the number is outside the range of 64-bit floating point")
    #expect(error.position == 8)
    #expect(throws: JSONError.self) {
      try EntityScanner.outlines(ofArray: Array(#"[{"a":\#(number)}]"#.utf8), isInput: true)
    }
  }

  @Test("are read where they are stored already, or come from a backend", arguments: infinite)
  func read(number: String) throws {
    let text = #"{"a":[1,\#(number)]}"#
    #expect(try EntityScanner.outline(of: Array(text.utf8)).range.count == text.utf8.count)
    #expect(try EntityScanner.outlines(ofArray: Array("[\(text)]".utf8)).count == 1)
  }

  @Test("are not those that only look like it", arguments: finite)
  func taken(number: String) throws {
    let text = #"{"a":[1,\#(number)]}"#
    let outline = try EntityScanner.outline(of: Array(text.utf8), isInput: true)
    #expect(outline.range.count == text.utf8.count)
    let value = try JSONValue(parsing: text)["a"]?.arrayValue?.last?.doubleValue
    #expect(value == Double(number))
  }

  @Test(
    "are named by their path",
    arguments: [
      (#"{"a":1e400}"#, "a"), (#" { "x" : "1e400" , "a" : {"b":[{},[1],1e400]}}"#, "a.b[2]"),
      (#"{"a":[[],{"b":{}},[1,{"c":[1e400]}]]}"#, "a[2][1].c[0]"),
      (#"{"a,\"]b":1e400}"#, #"a,"]b"#), (#"{"\u00e9":{"":1e400}}"#, #"é."""#),
    ])
  func path(text: String, path: String) throws {
    #expect(try refusal(text).reason == .numberOutOfRange(path))
  }

  @Test("are named by the end of a path that is long") func longPath() throws {
    let name = String(repeating: "x", count: 300)
    let error = try refusal(#"{"\#(name)":{"é":1e400}}"#)
    #expect(error.reason == .numberOutOfRange("…" + name.suffix(198) + ".é"))
  }

  @Test("name the entity of an array") func entity() throws {
    let error = try #require(throws: JSONError.self) {
      try EntityScanner.outlines(ofArray: Array(#"[{},{"a":{"b":1e400}}]"#.utf8), isInput: true)
    }
    #expect(error.reason == .numberOutOfRange("[1].a.b"))
  }

  @Test("are refused in small JSON, by name") func smallJSON() throws {
    for number in Self.infinite {
      let error = try #require(throws: JSONError.self) {
        try JSONValue(parsing: #"{"a":[18446744073709551616,\#(number)]}"#)
      }
      #expect(error.reason == .numberOutOfRange("a[1]"))
    }
    let alone = try #require(throws: JSONError.self) { try JSONValue(parsing: "1e400") }
    #expect(alone.message == "the number is outside the range of 64-bit floating point")
  }

  @Test("leave integers beyond 64 bits the nearest double in small JSON") func largeIntegers()
    throws
  {
    let text = #"{"18446744073709551616":"18446744073709551616","n":[18446744073709551616,1]}"#
    let value = try JSONValue(parsing: text)
    #expect(value["n"] == [.double(18_446_744_073_709_551_616), 1])
    #expect(value["18446744073709551616"] == "18446744073709551616")
    #expect(try JSONValue(parsing: "-9223372036854775808") == .int(.min))
    for bad in ["18446744073709551616x", "[18446744073709551616", "18446744073709551616-1"] {
      #expect(throws: JSONError.self) { try JSONValue(parsing: bad) }
    }
    let twice = try #require(throws: JSONError.self) {
      try JSONValue(parsing: #"{"a":18446744073709551616,"a":1}"#)
    }
    #expect(twice.message.contains("duplicate"))
  }
}
