import KVJSON
import Testing

@Suite("JSON values") struct JSONValueTests {
  @Test(
    "come back as they were written",
    arguments: [
      "null", "true", "-7", "9223372036854775807", "0.1", "1e+300", "-0.0", #""a\"\\\n\u0001é😀""#,
      "[]", "{}",
      #"{"z":1,"a":[1,2.5,{"b":null}]}"#,
    ])
  func roundTrip(text: String) throws {
    #expect(try JSONValue(parsing: text).text == text)
  }

  @Test("keep NUL in text") func keepsNUL() throws {
    #expect(try JSONValue(parsing: #""a\u0000b""#).stringValue == "a\0b")
  }

  @Test("say where the error is") func saysWhere() throws {
    let error = try #require(throws: JSONError.self) { try JSONValue(parsing: #"{"a":?}"#) }
    #expect(error.position == 6)
    #expect(!error.message.isEmpty)
    #expect(throws: JSONError.self) { try JSONValue(parsing: "") }
    #expect(throws: JSONError.self) { try JSONValue(parsing: #"{"a":1,"a":2}"#) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: "1 2") }
    #expect(throws: JSONError.self) { try JSONValue(parsing: "1\0") }
    #expect(throws: JSONError.self) {
      try JSONValue(parsing: String(repeating: "[", count: 100_000))
    }
  }
}
