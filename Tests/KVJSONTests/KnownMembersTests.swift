import KVJSON
import Testing

@Suite("Known members") struct KnownMembersTests {
  private func known(_ text: String) throws -> KnownMembers {
    let object = try #require(try JSONValue(parsing: text).objectValue)
    return try #require(KnownMembers(object))
  }

  private func completed(_ new: String, from stored: String, _ known: KnownMembers) -> String {
    let bytes = Array(stored.utf8).withUnsafeBytes { known.completed(Array(new.utf8), from: $0) }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(
    "what is not known is kept, what is known is replaced or goes",
    arguments: [
      (#"{"_id":"a","n":2}"#, #"{"_id":"a","n":1,"x":[1]}"#, #"{"_id":"a","n":2,"x":[1]}"#),
      (#"{"_id":"a"}"#, #"{"_id":"a","n":1,"x":null}"#, #"{"_id":"a","x":null}"#),
      (#"{"_id":"a","x":2}"#, #"{"_id":"a","x":1}"#, #"{"_id":"a","x":2}"#),
      (
        #"{"_id":"a"}"#, #"{"_id":"a","_acl":{"gr":true},"_kmd":{"lmt":"T"}}"#,
        #"{"_id":"a","_acl":{"gr":true},"_kmd":{"lmt":"T"}}"#
      ),
      (#"{ "_id" : "a" }"#, #"{"_id":"a","n":1}"#, #"{ "_id" : "a" }"#),
      (
        #"{"\u006e":2,"_id":"a"}"#, #"{"n":1,"_id":"a","\u0078":1}"#,
        #"{"\u006e":2,"_id":"a","\u0078":1}"#
      ),
      ("{}", "{}", "{}"), ("{}", #"{"x":1,"x":2}"#, #"{"x":1}"#),
      (#"{"n":1}"#, "nonsense", #"{"n":1}"#),
    ])
  func keeps(new: String, stored: String, expected: String) throws {
    let known = try known(#"{"_id":true,"n":true,"o":{"p":true}}"#)
    #expect(completed(new, from: stored, known) == expected)
  }

  @Test(
    "so it is in objects that are known by their members, and not in arrays",
    arguments: [
      (#"{"o":{"p":2}}"#, #"{"o":{"p":1,"q":1}}"#, #"{"o":{"p":2,"q":1}}"#),
      (#"{"o":{}}"#, #"{"o":{"p":1,"r":{"s":1,"t":2}}}"#, #"{"o":{}}"#),
      (#"{"o":{"r":{"s":2}}}"#, #"{"o":{"r":{"s":1,"t":2}}}"#, #"{"o":{"r":{"s":2,"t":2}}}"#),
      (#"{"o":null}"#, #"{"o":{"q":1}}"#, #"{"o":null}"#), ("{}", #"{"o":{"q":1}}"#, "{}"),
      (#"{"o":{"p":1}}"#, #"{"o":[{"q":1}]}"#, #"{"o":{"p":1}}"#),
      (#"{"o":[{"p":1}]}"#, #"{"o":[{"q":1}]}"#, #"{"o":[{"p":1}]}"#),
      (
        #"{"o":{"\u00e9":1}}"#, "{\"o\":{\"e\u{301}\":2}}", "{\"o\":{\"\\u00e9\":1,\"e\u{301}\":2}}"
      ),
    ])
  func nested(new: String, stored: String, expected: String) throws {
    let known = try known(#"{"o":{"p":true,"r":{"s":true}}}"#)
    #expect(completed(new, from: stored, known) == expected)
  }

  @Test(
    "anything but true and objects says nothing", arguments: [#"{"a":1}"#, #"{"a":{"b":false}}"#])
  func refuses(text: String) throws {
    let object = try #require(try JSONValue(parsing: text).objectValue)
    #expect(KnownMembers(object) == nil)
  }
}
