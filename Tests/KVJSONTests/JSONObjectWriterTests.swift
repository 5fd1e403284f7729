import Testing

@testable import KVJSON

@Suite("A written object") struct JSONObjectWriterTests {
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("has its members in the order in which they were added, escaped where they have to be")
  func members() {
    var writer = JSONObjectWriter()
    #expect(text(writer.bytes) == "{}")
    writer.add("a\"", .string("\n"))
    writer.add("b", json: "[1]".utf8)
    #expect(text(writer.finish()) == #"{"a\"":"\n","b":[1]}"#)
  }

  @Test("takes in the members of another one, which may have none")
  func objects() {
    var writer = JSONObjectWriter()
    writer.add(membersOf: Array("{}".utf8))
    writer.add(membersOf: Array(#"{"a":1}"#.utf8))
    writer.add(membersOf: Array("{}".utf8))
    writer.add("b", 2)
    #expect(text(writer.finish()) == #"{"a":1,"b":2}"#)
  }

  @Test("continues a text that ends inside of an object") func continued() {
    var writer = JSONObjectWriter(
      continuing: Array(#"{"_id":"x","_kmd":{"a":1"#.utf8), reservingCapacity: 8)
    writer.add("b", 2)
    #expect(text(writer.finish()) == #"{"_id":"x","_kmd":{"a":1,"b":2}"#)
  }

  @Test("is split where elements are streamed", arguments: [[], ["1"], ["1", "2"]])
  func split(elements: [String]) throws {
    var writer = JSONObjectWriter()
    writer.add("before", 0)
    let head = text(writer.splitArray("list"))
    writer.add("after", true)
    let whole = head + elements.joined(separator: ",") + text(writer.finish())
    #expect(whole == #"{"before":0,"list":[\#(elements.joined(separator: ","))],"after":true}"#)
  }
}
