import KVJSON
import Testing

@Suite("Formats of records") struct RecordFormatTests {
  static let byText = RecordFormat(
    version: ["rev"], versionOrder: .integer, backendMembers: ["meta"], permissions: "access")
  static let byInteger = RecordFormat(
    id: [.init("number", .integer)], version: ["sys", "state", "rev"], versionOrder: .integer)
  static let byBoth = RecordFormat(
    id: [.init("tenant"), .init("number", .integer)], version: ["etag"])

  @Test("say which members make up the key") func keys() {
    #expect(key(#"{"_id":"no","id":"a\u0062c","n":1}"#, Self.byText) == "abc")
    #expect(key(#"{"n\u0075mber":-5}"#, Self.byInteger) == "-5")
    #expect(key(#"{"number":-0}"#, Self.byInteger) == "0")
    #expect(key(#"{"number":9223372036854775807}"#, Self.byInteger) == "9223372036854775807")
    #expect(key(#"{"number":7,"x":0,"tenant":"\u00fc\"/"}"#, Self.byBoth) == #"["ü\"/",7]"#)
    #expect(key(#"{"n":1}"#, Self.byBoth) == nil)
  }

  @Test("say where the version is") func versions() {
    #expect(version(#"{"id":"a","rev":12}"#, Self.byText) == "12")
    #expect(version(#"{"id":"a","rev":"12"}"#, Self.byText) == nil)
    #expect(version(#"{"id":"a","rev":1.5}"#, Self.byText) == nil)
    #expect(version(#"{"id":"a","rev":1e3}"#, Self.byText) == nil)
    #expect(version(#"{"sys":{"a":1,"state":{"rev":-3}}}"#, Self.byInteger) == "-3")
    #expect(version(#"{"sys":{"state":7}}"#, Self.byInteger) == nil)
    #expect(version(#"{"etag":"a\/b"}"#, Self.byBoth) == "a/b")
    #expect(version(#"{"etag":5}"#, Self.byBoth) == "5")
    #expect(version(#"{"_kmd":{"lmt":5}}"#, .default) == nil)
    #expect(version(#"{"_kmd":{"lmt":"T"}}"#, .default) == "T")
  }

  @Test(
    "refuse what is no id, naming the member",
    arguments: [
      (#"{"id":5}"#, byText, "id must be a string that is not empty"),
      (#"{"id":""}"#, byText, "id must be a string that is not empty"),
      (#"{"id":"\u0000"}"#, byText, "id must not contain NUL"),
      (#"{"id":"a","i\u0064":"b"}"#, byText, "id occurs twice"),
      (#"{"rev":1,"rev":2}"#, byText, "rev occurs twice"),
      (#"{"meta":1,"meta":2}"#, byText, "meta occurs twice"),
      (#"{"access":[]}"#, byText, "access must be an object"),
      (#"{"sys":[]}"#, byInteger, "sys must be an object"),
      (#"{"number":"5"}"#, byInteger, "number must be a 64-bit integer"),
      (#"{"number":5.0}"#, byInteger, "number must be a 64-bit integer"),
      (#"{"number":null}"#, byInteger, "number must be a 64-bit integer"),
      (#"{"number":9223372036854775808}"#, byInteger, "number must be a 64-bit integer"),
      (#"{"tenant":"a"}"#, byBoth, "number is missing, and is a part of the id"),
      (#"{"number":1}"#, byBoth, "tenant is missing, and is a part of the id"),
    ])
  func refusals(_ text: String, format: RecordFormat, message: String) {
    let error = #expect(throws: JSONError.self) {
      try EntityScanner.outline(of: Array(text.utf8), format)
    }
    #expect(error?.message == message)
  }

  @Test("leave other members alone") func others() throws {
    let text = #"{"_id":7,"_acl":7,"_kmd":7,"rev2":{},"_id":8,"id":"a"}"#
    #expect(key(text, Self.byText) == "a")
    var splitter = ArraySplitter(Self.byText)
    try Array("[\(text),{\"id\":\"b\"}]".utf8).withUnsafeBytes { try splitter.append($0) }
    try splitter.finish()
    #expect(splitter.drain { $1.map(\.id) } == ["a", "b"])
  }

  @Test("count what has the version as the backend's own") func reserved() {
    #expect(Self.byText.reservedNames == ["id", "access", "rev", "meta"])
    #expect(Self.byInteger.reservedNames == ["number", "sys"])
    #expect(RecordFormat.default.reservedNames == ["_id", "_acl", "_kmd"])
  }

  @Test("are equal if they say the same") func equality() {
    #expect(
      Self.byBoth
        == RecordFormat(
          id: [.init("tenant"), .init("number", .integer)], version: ["etag"]))
    #expect(Self.byBoth != Self.byInteger)
  }

  private func key(_ text: String, _ format: RecordFormat) -> String? {
    format.key(of: Array(text.utf8))
  }

  private func version(_ text: String, _ format: RecordFormat) -> String? {
    format.version(of: Array(text.utf8))?.text
  }
}
