import KVBase
import KVJSON
import Testing

@Suite("Array splitter") struct ArraySplitterTests {
  @Test("gives the same entities wherever the pieces are cut", arguments: 1...40)
  func splitsAnywhere(size: Int) throws {
    let texts = (0..<50).map { #"{"_id":"\#($0)","t":"\#(String(repeating: "é", count: $0))"}"# }
    let bytes = Array((" [" + texts.joined(separator: " ,\n") + "] ").utf8)
    #expect(try split(bytes, size) == texts)
  }

  @Test("accepts an empty array") func acceptsEmpty() throws {
    #expect(try split(Array("[ ]".utf8), 1) == [])
  }

  @Test(
    "refuses an array that does not end",
    arguments: ["", "[", "[{}", "[{},", "[{\"a\":", "null", "[{}]x", "[1]", "[\"a\"]"])
  func refusesIncomplete(text: String) {
    #expect(throws: JSONError.self) { try split(Array(text.utf8), 1) }
  }

  @Test(
    "passes over strings among the entities where they are allowed, and says that there were some",
    arguments: 1...9)
  func strings(size: Int) throws {
    for (text, count) in [
      (#"["a\"],",{"n":1},"b"]"#, 1), (#"["a"]"#, 0), (#"[{"n":1},{"n":"x"}]"#, 2),
    ] {
      var splitter = ArraySplitter(allowsStrings: true)
      for piece in Array(text.utf8).chunks(of: size) { try feed(&splitter, Array(piece)) }
      try splitter.finish()
      splitter.drain { _, outlines in #expect(outlines.count == count) }
      #expect(splitter.hasStrings == (count < 2))
    }
  }

  @Test("refuses an entity above the limit before all of it has come") func boundsSize() throws {
    var splitter = ArraySplitter(maximumElement: 1000)
    let error = #expect(throws: JSONError.self) {
      try feed(&splitter, Array("[{\"a\":\"".utf8))
      for _ in 0..<5000 { try feed(&splitter, [0x61]) }
    }
    #expect(error?.reason == .tooLarge)
  }

  @Test("counts positions from the start of the whole text") func countsPositions() throws {
    var splitter = ArraySplitter()
    try feed(&splitter, Array(#"[{"a":1},"#.utf8))
    splitter.drain { _, outlines in #expect(outlines.count == 1) }
    let error = #expect(throws: JSONError.self) { try feed(&splitter, Array(#"{"a":!}]"#.utf8)) }
    #expect(error?.position == 14)
  }

  private func feed(_ splitter: inout ArraySplitter, _ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try splitter.append($0) }
  }

  private func split(_ bytes: [UInt8], _ size: Int) throws -> [String] {
    var splitter = ArraySplitter()
    var found: [String] = []
    func take(_ splitter: inout ArraySplitter) {
      splitter.drain { buffer, outlines in
        found += outlines.map { String(decoding: buffer[$0.range], as: UTF8.self) }
      }
    }
    for start in stride(from: 0, to: bytes.count, by: size) {
      try feed(&splitter, Array(bytes[start..<min(start + size, bytes.count)]))
      if splitter.count > 3 { take(&splitter) }
    }
    try splitter.finish()
    take(&splitter)
    return found
  }
}
