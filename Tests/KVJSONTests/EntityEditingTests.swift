import KVJSON
import Testing

@Suite("Entity editing") struct EntityEditingTests {
  @Test(
    "puts the id first",
    arguments: [
      ("{}", #"{"_id":"x"}"#), ("{ }", #"{"_id":"x" }"#), (#"{"a":1}"#, #"{"_id":"x","a":1}"#),
    ])
  func insertsId(text: String, expected: String) throws {
    let bytes = Array(text.utf8)
    let outline = try EntityScanner.outline(of: bytes)
    let edited = bytes.withUnsafeBytes {
      EntityEditing.inserting(id: "x", into: $0, outline: outline)
    }
    #expect(String(decoding: edited, as: UTF8.self) == expected)
  }

  @Test("replaces reserved members and leaves the others as they were written") func replaces()
    throws
  {
    let bytes = Array(#" {"_kmd":{"a":1}, "n" : 1.50,"_id":"q","_acl":{},"z":[ 1 ]} "#.utf8)
    let outline = try EntityScanner.outline(of: bytes)
    let edited = try EntityEditing.rewriting(
      bytes, outline, id: "q", replacing: [("_acl", nil), ("_kmd", Array(#"{"lmt":"T"}"#.utf8))])
    #expect(
      String(decoding: edited, as: UTF8.self)
        == #"{"_id":"q","n":1.50,"z":[ 1 ],"_kmd":{"lmt":"T"}}"#)
  }
}
