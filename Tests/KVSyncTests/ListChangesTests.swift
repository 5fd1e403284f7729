import KVSync
import KVTestSupport
import Testing

@Suite("Changes of a list") struct ListChangesTests {
  @Test("applied to the list before, they give the list now")
  func leadFromOneToTheOther() {
    for _ in 0..<500 {
      let old = Array((0..<Int.random(in: 0...30)).shuffled().prefix(20))
      var new = Bool.random() ? old : old.shuffled()
      new.removeAll { _ in Int.random(in: 0..<4) == 0 }
      for key in 100..<100 + Int.random(in: 0...4) {
        new.insert(key, at: Int.random(in: 0...new.count))
      }
      let changed = Set(new.filter { _ in Int.random(in: 0..<3) == 0 })
      let changes = ListChanges(from: old, to: new) { from, to in
        #expect(old[from] == new[to])
        return changed.contains(new[to])
      }
      #expect(Self.applied(changes, to: old, new) == new, "\(old) to \(new)")
      #expect(changes.count == new.count)
      #expect(Set(changes.modifications.map { new[$0] }) == changed.intersection(old))
      #expect(changes.modifications == changes.modifications.sorted())
    }
  }

  /// `new` gives what is inserted, and nothing else.
  private static func applied(_ changes: ListChanges, to old: [Int], _ new: [Int]) -> [Int] {
    var list = old
    for index in (changes.deletions + changes.moves.map(\.from)).sorted(by: >) {
      list.remove(at: index)
    }
    let coming =
      changes.insertions.map { ($0, new[$0]) } + changes.moves.map { ($0.to, old[$0.from]) }
    for (index, key) in coming.sorted(by: { $0.0 < $1.0 }) { list.insert(key, at: index) }
    return list
  }

  @Test("what is moved is as little as possible")
  func moveOne() {
    let changes = ListChanges(from: [1, 2, 3, 4, 5], to: [1, 5, 2, 3, 4])
    #expect(changes.moves == [.init(from: 4, to: 1)])
    #expect(changes.deletions.isEmpty && changes.insertions.isEmpty)
    #expect(ListChanges(from: [1, 2], to: [1, 2]).isEmpty)
  }
}
