import Testing

@testable import KVBase

@Suite("RecordID") struct RecordIDTests {
  private static let composed = "caf\u{E9}"
  private static let decomposed = "cafe\u{301}"

  @Test("texts that only look the same are two keys") func twoKeys() {
    #expect(Self.composed == Self.decomposed, "Swift's strings are equal")
    let ids = [Self.composed, Self.decomposed].map(RecordID.init)
    #expect(ids[0] != ids[1])
    #expect(Set(ids).count == 2)
    var values: [RecordID: Int] = [:]
    for (value, id) in ids.enumerated() { values[id] = value }
    #expect(values[ids[0]] == 0)
    #expect(values[ids[1]] == 1)
  }

  @Test(
    "the same bytes are the same key, however long",
    arguments: ["", "a", "fifteen bytes..", "more than sixteen bytes", "caf\u{E9}", "🇩🇪\0x"])
  func sameBytes(text: String) {
    let copy = String(decoding: Array(text.utf8), as: UTF8.self)
    #expect(RecordID(text) == RecordID(copy))
    #expect(RecordID(text).hashValue == RecordID(copy).hashValue)
    #expect(!(RecordID(text) < RecordID(copy)))
    #expect(RecordID(text) != RecordID(text + "b"))
    #expect(RecordID(text) < RecordID(text + "b"))
  }

  @Test("a text that begins or ends like another is another") func parts() {
    #expect(RecordID("ab") != RecordID("ac"))
    #expect(RecordID("ab") != RecordID("bb"))
    #expect(RecordID("Kelvin") != RecordID("\u{212A}elvin"), "the sign is equivalent to the letter")
  }

  @Test("the order is that of the bytes, as SQLite's") func order() {
    let texts = ["", "a", "e\u{301}", "z", "\u{E9}", "\u{FFFD}", "\u{10000}"]
    #expect(
      texts.shuffled().map(RecordID.init).sorted().map(\.text.utf8.count) == texts.map(\.utf8.count)
    )
  }
}
