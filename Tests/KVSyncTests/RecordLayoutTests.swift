import KVBase
import KVJSON
import KVSync
import Testing

@Suite("The order of collections") struct RecordLayoutTests {
  private func layout(_ links: [String: [(String, RecordRelation.Link)]]) -> RecordLayout {
    var rules: [RecordID: CollectionRules] = [:]
    for (name, relations) in links {
      rules[RecordID(name)] = CollectionRules(
        format: .default,
        relations: relations.map {
          RecordRelation(name: "r", collection: $0.0, link: $0.1, isOwner: false)
        }, check: { $0 })
    }
    return RecordLayout(rules: rules)
  }

  @Test("puts those first that others depend on, whichever side says so")
  func parentsFirst() {
    let chain = layout([
      "a": [("b", .reference(["b"]))], "b": [("c", .reference(["c"]))], "c": [],
      "z": [("a", .referrers(["z"]))],
    ])
    let order = chain.collectionsInOrder
    #expect(order == ["z", "c", "b", "a"] || order == ["c", "b", "z", "a"])
    let joined = layout([
      "x": [("y", .join("w", keys: ["x"], others: ["y"]))], "y": [], "w": [],
    ])
    #expect(joined.collectionsInOrder == ["x", "w", "y"])
  }

  @Test("has each once, also where they depend on each other, and however long a chain is")
  func cycles() {
    let circle = layout(["a": [("b", .reference(["b"]))], "b": [("a", .reference(["a"]))]])
    #expect(circle.collectionsInOrder.sorted() == ["a", "b"])
    var links: [String: [(String, RecordRelation.Link)]] = [:]
    for number in 0..<5000 { links["m\(number)"] = [("m\(number + 1)", .reference(["k"]))] }
    links["m5000"] = []
    let order = layout(links).collectionsInOrder
    #expect(order.count == 5001 && order.first == "m5000" && order.last == "m0")
  }
}
