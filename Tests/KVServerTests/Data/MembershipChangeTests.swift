internal import KVBase
import Testing

@testable import KVServerCore

@Suite("Members of a group") struct MembershipChangeTests {
  @Test("Who joins and who leaves is told apart by the bytes of ids, each once")
  func bytes() {
    let change = MembershipChange(
      from: ["ana", "e\u{301}", "gone"], to: ["ana", "\u{E9}", "new", "new"])
    #expect(Set(change.joined.map { RecordID($0) }) == [RecordID("\u{E9}"), RecordID("new")])
    #expect(change.joined.count == 2)
    #expect(Set(change.left.map { RecordID($0) }) == [RecordID("e\u{301}"), RecordID("gone")])
    #expect(MembershipChange(from: ["a", "b"], to: ["b", "a"]).isEmpty)
  }

  @Test("Whoever has read with the former rights has an earlier time than the new ones")
  func rights() {
    let now = Timestamp(milliseconds: 7)
    #expect(MembershipChange.rightsSince(now) > now)
  }
}
