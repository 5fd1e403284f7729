import KVJSON
import Testing

@testable import KVSync

@Suite("Merging entities") struct EntityMergeTests {
  private static let composed = "\u{E9}"
  private static let decomposed = "e\u{301}"

  private func merged(_ base: String, ours: String, theirs: String) -> String? {
    var merge = EntityMerge(.default, winner: nil)
    let merged = try? merge.merged(
      base: Array(base.utf8), ours: Array(ours.utf8), theirs: Array(theirs.utf8))
    return merged.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a member that one side has deleted and the other has changed is a conflict, at any depth")
  func deletedAndChanged() {
    let versions = [#"{"a":1,"b":1}"#, #"{"b":1}"#, #"{"a":2,"b":1}"#]
    let nested = versions.map { #"{"in":{"deeper":\#($0)}}"# }
    for all in [versions, nested] {
      let (base, deleted, changed) = (all[0], all[1], all[2])
      #expect(merged(base, ours: deleted, theirs: changed) == nil)
      #expect(merged(base, ours: changed, theirs: deleted) == nil)
      // Without a change of the other side the deletion holds.
      #expect(merged(base, ours: deleted, theirs: base) == deleted)
      #expect(merged(base, ours: base, theirs: deleted) == deleted)
    }
  }

  @Test("another spelling of a text is a change") func spelling() throws {
    let found = merged(
      #"{"a":"\#(Self.composed)"}"#, ours: #"{"a":"\#(Self.decomposed)"}"#,
      theirs: #"{"a":"\#(Self.composed)","b":1}"#)
    #expect(Array(try #require(found).utf8) == Array(#"{"a":"\#(Self.decomposed)","b":1}"#.utf8))
  }

  /// Where theirs wins; with a mark if something of ours was given up.
  private func joined(
    _ base: String, ours: String, theirs: String, isAppended: Bool = false
  ) throws -> String {
    var merge = EntityMerge(.default, winner: .theirs, isAppended: isAppended)
    let merged = try merge.merged(
      base: Array(base.utf8), ours: Array(ours.utf8), theirs: Array(theirs.utf8))
    return String(decoding: try #require(merged), as: UTF8.self) + (merge.hasLost ? " lost" : "")
  }

  @Test("where a side wins, lists that both have changed are joined") func lists() throws {
    for (base, ours, theirs, joined) in [
      ("[1]", "[1,2]", "[1,3]", "[1,3,2]"),
      // Both have added the same; one has removed what the other kept.
      ("[1]", "[1,2]", "[1,2,3]", "[1,2,3]"),
      ("[1,2]", "[2]", "[1,2,3]", "[2,3]"),
      ("[1,1]", "[1]", "[1,1,4]", "[1,4]"),
      ("null", "[1]", "[2]", "[2] lost"),
      // Another order alone is given up.
      ("[1,2]", "[2,1]", "[1,2,3]", "[1,2,3] lost"),
      ("1", "2", "3", "3 lost"),
      (#"{"a":[1]}"#, #"{"a":[1,2],"b":1}"#, #"{"a":[1,3],"b":2}"#, #"{"a":[1,3,2],"b":2} lost"#),
    ] {
      let found = try self.joined(
        #"{"x":\#(base)}"#, ours: #"{"x":\#(ours)}"#, theirs: #"{"x":\#(theirs)}"#)
      let (value, lost) =
        joined.hasSuffix(" lost") ? (String(joined.dropLast(5)), " lost") : (joined, "")
      #expect(found == #"{"x":\#(value)}\#(lost)"#)
    }
  }

  @Test("lists that a backend has appended to its own are not there twice") func appended() throws {
    #expect(
      try joined(
        #"{"x":[1]}"#, ours: #"{"x":[1,2]}"#, theirs: #"{"x":[1,3,1,2]}"#, isAppended: true)
        == #"{"x":[1,3,2]}"#)
    #expect(
      try joined(#"{"x":[1]}"#, ours: #"{"x":[1,2]}"#, theirs: #"{"x":[1,1,2]}"#, isAppended: true)
        == #"{"x":[1,2]}"#)
  }

  private func merged(
    _ base: String?, ours: String, theirs: String, by rules: JSONValue, mayHaveArrived: Bool = false
  ) throws -> String? {
    var merge = EntityMerge(
      .default, winner: nil, rules: try #require(MergeRules(rules)), mayHaveArrived: mayHaveArrived)
    let merged = try merge.merged(
      base: base.map { Array($0.utf8) }, ours: Array(ours.utf8), theirs: Array(theirs.utf8))
    return merged.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a rule merges a list as a set, or as a log") func rules() throws {
    for (base, ours, theirs, union, append) in [
      ("[1]", "[1,2]", "[1,3]", "[1,3,2]", "[1,3,2]"),
      // Both have added the same.
      ("[1]", "[1,2]", "[1,2]", "[1,2]", "[1,2,2]"),
      ("[]", "[7,8]", "[7]", "[7,8]", "[7,7,8]"),
      // One has removed what the other kept, both what both had.
      ("[1,2]", "[2,4]", "[1,2,3]", "[2,3,4]", "[2,3,4]"),
      ("[1,2]", "[2]", "[2,3]", "[2,3]", "[2,3]"),
      // Another order alone.
      ("[1,2]", "[2,1]", "[1,2,3]", "[1,2,3]", "[1,2,3]"),
      // Only one side has changed it.
      ("[1]", "[1]", "[1,2]", "[1,2]", "[1,2]"),
      ("[1]", "[1,2]", "[1]", "[1,2]", "[1,2]"),
    ] {
      for (rule, expected) in [("union", union), ("append", append)] {
        let found = try merged(
          #"{"x":\#(base)}"#, ours: #"{"x":\#(ours)}"#, theirs: #"{"x":\#(theirs)}"#,
          by: ["x": .string(rule)])
        #expect(found == #"{"x":\#(expected)}"#, "\(rule) of \(ours) and \(theirs)")
      }
    }
  }

  @Test("a rule is for one member, at any depth, and for lists only") func ruledMember() throws {
    let base = #"{"a":{"l":[]},"l":[]}"#
    let (ours, theirs) = (#"{"a":{"l":[1]},"l":[]}"#, #"{"a":{"l":[2]},"l":[]}"#)
    #expect(
      try merged(base, ours: ours, theirs: theirs, by: ["a.l": "union"])
        == #"{"a":{"l":[2,1]},"l":[]}"#)
    #expect(try merged(base, ours: ours, theirs: theirs, by: ["l": "union"]) == nil)
    #expect(
      try merged(#"{"x":1}"#, ours: #"{"x":2}"#, theirs: #"{"x":3}"#, by: ["x": "append"]) == nil)
    // Both have made it.
    #expect(
      try merged(nil, ours: #"{"x":[1]}"#, theirs: #"{"x":[1]}"#, by: ["x": "append"])
        == #"{"x":[1,1]}"#)
  }

  @Test("what may have arrived already is not appended twice") func arrived() throws {
    #expect(
      try merged(
        #"{"x":[]}"#, ours: #"{"x":[1]}"#, theirs: #"{"x":[1,2]}"#, by: ["x": "append"],
        mayHaveArrived: true) == #"{"x":[1,2]}"#)
  }

  @Test(
    "rules are union or append, by the names of members",
    arguments: [["x": "sum"], ["x": 1], [1], ["": "union"]] as [JSONValue])
  func wrongRules(_ rules: JSONValue) { #expect(MergeRules(rules) == nil) }

  @Test("two spellings by two writers are a conflict") func conflict() {
    #expect(
      merged(
        #"{"a":1}"#, ours: #"{"a":"\#(Self.decomposed)"}"#, theirs: #"{"a":"\#(Self.composed)"}"#)
        == nil)
  }
}
