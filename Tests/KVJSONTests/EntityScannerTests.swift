import KVJSON
import Testing

@Suite("Entity scanner") struct EntityScannerTests {
  @Test("finds the reserved members and the limits of the object")
  func findsMembers() throws {
    let text =
      #" {"a":[1,{"_id":"no"}],"_id":"x","_acl":{"gr":true},"_kmd":{"lmt":"T","ect":"E"}} "#
    let outline = try EntityScanner.outline(of: Array(text.utf8))
    #expect(outline.id == "x")
    #expect(outline.range == 1..<text.utf8.count - 1)
    #expect(slice(text, outline.permissions) == #"{"gr":true}"#)
    #expect(slice(text, outline.version) == "T")
  }

  @Test("undoes escapes in the id and in the names of members")
  func undoesEscapes() throws {
    let outline = try EntityScanner.outline(
      of: Array(#"{"\u005fid":"a\n\ud83d\ude00\u00e9"}"#.utf8))
    #expect(outline.id == "a\n😀é")
  }

  @Test(
    "refuses what is no entity",
    arguments: [
      ("[]", 0), ("7", 0), (#"{"_id":""}"#, 7), (#"{"_id":null}"#, 7), (#"{"_id":7}"#, 7),
      (#"{"_id":"a\u0000b"}"#, 7), (#"{"_acl":[]}"#, 8), (#"{"_kmd":null}"#, 8),
      (#"{"_id":"a","_id":"b"}"#, 12),
    ] as [(String, Int)])
  func refusesNonEntities(text: String, position: Int) throws {
    let error = try #require(throws: JSONError.self) {
      try EntityScanner.outline(of: Array(text.utf8))
    }
    guard case .notAnEntity = error.reason else {
      Issue.record("\(error)")
      return
    }
    #expect(error.position == position)
  }

  @Test(
    "refuses what is no JSON",
    arguments: [
      #"{"a":01}"#, #"{"a":.5}"#, #"{"a":1.}"#, #"{"a":+1}"#, #"{"a":1e}"#, #"{"a":tru}"#,
      #"{"a":1,}"#, #"{,}"#, #"{"a"}"#, #"{"a":[1,]}"#, #"{"a":[1}"#, #"{"a":1]"#, #"{a:1}"#,
      #"{"a":"\x"}"#, #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#, #"{"a":"\ud800\u0041"}"#,
      "{\"a\":\"\n\"}", #"{"a":1}}"#, #"{"a":1} x"#, "{\"a\":\u{FEFF}1}", #"{"a":NaN}"#,
    ])
  func refusesBadJSON(text: String) {
    #expect(throws: JSONError.self) { try EntityScanner.outline(of: Array(text.utf8)) }
  }

  @Test(
    "refuses what is no UTF-8",
    arguments: [
      [0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80],
      [0xF0, 0x80, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0xC3, 0x28], [0xFF],
    ] as [[UInt8]])
  func refusesBadUTF8(bytes: [UInt8]) {
    let text = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
    #expect(throws: JSONError.self) { try EntityScanner.outline(of: text) }
  }

  @Test("accepts UTF-8 of every length at every distance from the end")
  func acceptsUTF8() throws {
    for padding in 0..<20 {
      let text = "{\"a\":\"" + String(repeating: "x", count: padding) + "é€😀\u{10FFFF}\"}"
      #expect(try EntityScanner.outline(of: Array(text.utf8)).range.count == text.utf8.count)
    }
  }

  @Test("says that every proper beginning is truncated")
  func saysTruncated() throws {
    let text = Array(
      #"{"_id":"ab","n":[-1.5e+7,true,{"t":null,"s":"\u00e9é"}],"_kmd":{"lmt":"x"}}"#.utf8)
    for length in 0..<text.count {
      let error = try #require(throws: JSONError.self) {
        try EntityScanner.outline(of: Array(text[0..<length]))
      }
      #expect(error.reason == .truncated, "after \(length) bytes")
    }
  }

  @Test("bounds the nesting, not the stack")
  func boundsNesting() throws {
    func nested(_ levels: Int) -> [UInt8] {
      Array(
        ("{\"a\":" + String(repeating: "[", count: levels)
          + String(repeating: "]", count: levels) + "}").utf8)
    }
    #expect(try EntityScanner.outline(of: nested(499)).id == nil)
    for levels in [500, 100_000] {
      let error = try #require(throws: JSONError.self) {
        try EntityScanner.outline(of: nested(levels))
      }
      #expect(error.reason == .tooDeep)
    }
  }

  @Test("splits a whole array")
  func splitsArray() throws {
    #expect(try EntityScanner.outlines(ofArray: Array(" [ ] ".utf8)).isEmpty)
    let outlines = try EntityScanner.outlines(ofArray: Array(#"[{"_id":"a"} , {"b":1}]"#.utf8))
    #expect(outlines.map(\.id) == ["a", nil])
    #expect(outlines.map(\.range) == [1..<12, 15..<22])
    for bad in ["[", "[{}", "[{},]", "[{}]]", "{}", "[1]", "[{} {}]"] {
      #expect(throws: JSONError.self) { try EntityScanner.outlines(ofArray: Array(bad.utf8)) }
    }
  }

  private func slice(_ text: String, _ range: Range<Int>?) -> String? {
    range.map { String(decoding: Array(text.utf8)[$0], as: UTF8.self) }
  }
}
