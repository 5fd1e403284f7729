import KVJSON
import Testing

@testable import KVSync

@Suite("Merging entities") struct EntityMergeTests {
  private static let composed = "\u{E9}"
  private static let decomposed = "e\u{301}"

  private func merged(_ base: String, ours: String, theirs: String) -> String? {
    let merged = try? EntityMerge.merged(
      base: Array(base.utf8), ours: Array(ours.utf8), theirs: Array(theirs.utf8), format: .default)
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

  @Test("two spellings by two writers are a conflict") func conflict() {
    #expect(
      merged(
        #"{"a":1}"#, ours: #"{"a":"\#(Self.decomposed)"}"#, theirs: #"{"a":"\#(Self.composed)"}"#)
        == nil)
  }
}
