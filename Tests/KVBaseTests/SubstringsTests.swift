import Testing

@testable import KVBase

@Suite("Substrings") struct SubstringsTests {
  @Test("finds the first place of a text") func finds() {
    let text = "aabaabc"
    #expect(text.firstPlace(of: "aabc").map { String(text[$0]) } == "aabc")
    #expect(text.firstPlace(of: "b")?.lowerBound == text.index(text.startIndex, offsetBy: 2))
  }

  @Test("finds nothing where there is nothing", arguments: ["", "x", "aabaabcd"])
  func findsNothing(text: String) {
    #expect("aabaabc".firstPlace(of: text) == nil)
  }
}
