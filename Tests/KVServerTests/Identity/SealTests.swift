import KVJSON
import Testing

@testable import KVServerCore

@Suite struct SealTests {
  private let seal = Seal(secret: "what only servers know", app: "kid")

  @Test func whatIsSealedOpensForItsKindItsAppAndItsTime() {
    let text = seal.seal("code", ["a": "1"], until: 100)
    #expect(seal.open("code", text, at: 99)?["a"] == "1")
    #expect(seal.open("code", text, at: 100) == nil)
    #expect(seal.open("access", text, at: 99) == nil)
    #expect(Seal(secret: "what only servers know", app: "other").open("code", text, at: 99) == nil)
    #expect(Seal(secret: "what others know", app: "kid").open("code", text, at: 99) == nil)
    #expect(seal.open("code", seal.seal("code", ["a": "1"], until: nil), at: .max)?["a"] == "1")
  }

  @Test func noByteCanBeChangedAndNothingIsShownTwiceAlike() {
    let text = seal.seal("code", ["a": "1"], until: 100)
    #expect(text != seal.seal("code", ["a": "1"], until: 100))
    for place in 0..<text.utf8.count - 1 {
      var bytes = Array(text.utf8)
      bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(seal.open("code", String(decoding: bytes, as: UTF8.self), at: 99) == nil)
    }
    for other in ["", "A", text + "AAAA", String(text.dropLast(4)), "ä"] {
      #expect(seal.open("code", other, at: 99) == nil)
    }
  }
}
