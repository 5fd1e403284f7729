import Testing

@testable import KVBase

@Suite("Substrings") struct SubstringsTests {
  @Test("finds the first position of a text") func finds() {
    let text = "aabaabc"
    #expect(text.firstRange(ofText: "aabc").map { String(text[$0]) } == "aabc")
    #expect(text.firstRange(ofText: "b")?.lowerBound == text.index(text.startIndex, offsetBy: 2))
  }

  @Test("finds nothing where there is nothing", arguments: ["", "x", "aabaabcd"])
  func findsNothing(text: String) {
    #expect("aabaabc".firstRange(ofText: text) == nil)
  }

  @Test("drops what a text begins and ends with, byte by byte") func dropping() {
    #expect("app.c-notes".dropping(prefix: "app.") == "c-notes")
    #expect("app.c-notes".dropping(prefix: "app.x") == nil)
    #expect("app.\u{301}".dropping(prefix: "app.") == "\u{301}", "the mark belongs to the dot")
    #expect("notes.u-1".dropping(suffix: ".u-1") == "notes")
    #expect("notes.u-\u{E9}".dropping(suffix: ".u-e\u{301}") == nil)
    #expect("1".dropping(suffix: ".u-1") == nil)
    #expect("same".dropping(prefix: "same") == "")
    #expect("same".dropping(suffix: "same") == "")
  }
}
