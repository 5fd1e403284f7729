import Testing

@testable import KVBase

@Suite("Identifier") struct IdentifierTests {
  @Test("entity ids are 32 hex digits, sorted by their millisecond") func entity() {
    let first = Identifier.entity(now: 1_710_277_201_120)
    let second = Identifier.entity(now: 1_710_277_201_121)
    for id in [first, second] {
      #expect(id.utf8.count == 32)
      #expect(id.allSatisfy { "0123456789abcdef".contains($0) })
    }
    #expect(first < second)
    #expect(first.hasPrefix("018e34770ce0"))
  }

  @Test("object ids are 24 hex digits that start with the seconds") func object() {
    let id = Identifier.object(now: 1_710_277_201_120)
    #expect(id.utf8.count == 24)
    #expect(id.hasPrefix("65f0c251"))
  }

  @Test("request ids are version 4 UUIDs") func request() {
    let id = Identifier.request()
    let parts = id.split(separator: "-").map(\.count)
    #expect(parts == [8, 4, 4, 4, 12])
    #expect(Array(id)[14] == "4")
    #expect("89ab".contains(Array(id)[19]))
  }

  @Test("nothing repeats, from several threads at once") func unique() async {
    let all = await withTaskGroup(of: [String].self) { group in
      for _ in 0..<4 {
        group.addTask { (0..<5_000).map { _ in Identifier.entity(now: 0) } }
      }
      return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
    }
    #expect(all.count == 20_000)
  }

  @Test("revisions are positive") func revision() {
    for _ in 0..<1_000 { #expect(Identifier.revision() > 0) }
  }
}
