import KVJSON
import KVTestSupport
import Testing

@Suite("Members that come twice") struct RepeatedMembersTests {
  private func refuse(_ text: String) -> JSONError? {
    do throws(JSONError) {
      _ = try EntityScanner.outline(of: Array(text.utf8), isInput: true)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "are refused in what is handed over, wherever they are, with their path",
    arguments: [
      (#"{"a":1,"a":2}"#, "a"), (#"{"a":1,"b":{"c":[1,{"d":1,"d":1}]}}"#, "b.c[1].d"),
      (#"{"a":1,"\u0061":2}"#, "a"), (#"{"é":1,"x":"a","\u00e9":2}"#, "é"),
      (#"{"":1,"":2}"#, #""" occurs"#),
      (#"{"a":{"":1,"":2}}"#, #"a."" occurs"#),
      (
        #"{"long name, longer than sixteen":1,"long name, longer than sixteen":2}"#,
        "long name, longer than sixteen"
      ),
      (#"{ "a" : {"b":1} , "a" : {"b":1} }"#, "a"), (#"{"a\"b":1,"a\"b":2}"#, "a"),
    ])
  func refused(text: String, path: String) throws {
    let error = try #require(refuse(text))
    #expect("\(error)".contains("occurs twice"), "\(error)")
    #expect(error.message.contains(path), "\(error)")
    #expect(
      (try? EntityScanner.outlines(ofArray: Array("[{},\(text)]".utf8), isInput: true)) == nil)
  }

  @Test(
    "are none where names only look the same",
    arguments: [
      #"{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}"#, #"{"a":"a","b":"a"}"#,
      #"{"a":1,"A":2,"a ":3}"#,
      #"{"é":1,"e\u0301":2}"#, #"{"a\\":1,"a":{"x":"\"a\":1"}}"#, #"{"a":["a","a"]}"#,
      #"{"first sixteen bytes and more, 1":1,"first sixteen bytes and more, 2":1}"#,
      #"{"first sixteen bytes then others, x":1,"first sixteen bytes then OTHERS, x":1}"#,
    ])
  func accepted(text: String) { #expect(refuse(text) == nil) }

  @Test("are found among any others, and nothing else is")
  func random() {
    let seed = Seed()
    var random = seed
    for _ in 0..<3_000 {
      var hasRepeats = false
      let text = Self.object(&random, depth: 3, &hasRepeats)
      #expect((refuse(text) != nil) == hasRepeats, "\(seed): \(text)")
    }
  }

  @Test("are found among many, wherever they are", arguments: [40, 600, 3_000])
  func many(count: Int) {
    let members = (0..<count).map { "\"m\($0)\":\($0)" }
    for repeated in stride(from: 0, to: count, by: max(1, count / 100) | 1) {
      let text = "{" + (members + [members[repeated]]).joined(separator: ",") + "}"
      #expect(refuse(text) != nil, "m\(repeated) of \(count)")
    }
  }

  @Test("take no more than time that grows with the text, whatever the names are")
  func chosenNames() {
    // Alike but for a few bytes.
    let names = (0..<20_000).map { "0123456789abcdef\(100_000 + $0)0123456789abcdef" }
    #expect(refuse("{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}") == nil)
    #expect(
      refuse("{" + (names + [names[7]]).map { "\"\($0)\":1" }.joined(separator: ",") + "}") != nil)
  }

  @Test("are found in each entity of an array, whatever came before it")
  func arrays() {
    func refuse(_ entities: String...) -> JSONError? {
      do throws(JSONError) {
        let array = Array("[\(entities.joined(separator: ","))]".utf8)
        _ = try EntityScanner.outlines(ofArray: array, isInput: true)
        return nil
      } catch {
        return error
      }
    }
    let large = "{" + (0..<5_000).map { "\"n\($0)\":{\"a\":[]}" }.joined(separator: ",") + "}"
    let small = #"{"n1":{"n1":{}},"n2":[{"n1":1},{"n1":2}]}"#
    #expect(refuse(large, small, "{}", large, small) == nil)
    #expect(refuse(large, small, #"{"a":{},"b":[{}],"a":1}"#)?.message.contains("a occurs") == true)
    #expect(refuse(small, #"{"n":{"x":[{"y":1}],"x":1}}"#, large) != nil)
    // An entity that is no JSON is told first.
    let broken = refuse(#"{"a":1,"a":2}"#, "{")
    #expect(broken?.message.contains("occurs") == false)
  }

  private static func object(_ random: inout Seed, depth: Int, _ hasRepeats: inout Bool) -> String {
    var names: Set<String> = []
    let members = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
      let name =
        [
          "a", "b", "ab", "c d", "é",
          "a very long name indeed \(Int.random(in: 0..<3, using: &random))",
        ]
        .randomElement(using: &random) ?? "a"
      if !names.insert(name).inserted { hasRepeats = true }
      let isEscaped = Int.random(in: 0..<10, using: &random) == 0
      let written = isEscaped ? name.replacing("a", with: "\\u0061") : name
      return "\"\(written)\": \(value(&random, depth: depth, &hasRepeats))"
    }
    return "{\(members.joined(separator: " ,"))}"
  }

  private static func value(_ random: inout Seed, depth: Int, _ hasRepeats: inout Bool) -> String {
    switch Int.random(in: 0..<(depth > 0 ? 6 : 4), using: &random) {
    case 0: return "-1.5e3"
    case 1: return "null"
    case 2: return #""a\":{\"b""#
    case 3: return #"["a","b",[true]]"#
    case 4: return "[\(object(&random, depth: depth - 1, &hasRepeats))]"
    default: return object(&random, depth: depth - 1, &hasRepeats)
    }
  }
}
