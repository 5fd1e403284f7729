import KVStore
import Testing

@Suite("What is computed of results") struct MatchTests {
  @Test("Scores, snippets and distances come beside the entity, which keeps its members")
  func computed() async throws {
    struct Place: Codable, Sendable, Equatable {
      var id: String?
      var text: String
      var at: [Double]
      enum CodingKeys: String, CodingKey {
        case id = "_id"
        case text, at
      }
    }
    let local = try Local()
    let places = try local.client.store("places", of: Place.self)
    let saved = [
      Place(id: "a", text: "the quick red fox jumps", at: [0, 0]),
      Place(id: "b", text: "fox", at: [0, 1]),
    ]
    try await places.save(saved)
    let words = try Query<Place>(filter: #"{"$text":{"$search":"fox"}}"#).sortedByRelevance()
    let found = try await places.find(
      words, with: [.score, .snippet(words: 3, start: "[", end: "]")]
    ).all()
    #expect(found.map(\.entity) == saved.reversed())
    #expect(found.first?.score == 1.1 && (found.last?.score ?? 0) < 1)
    #expect(found.last?.snippet?.contains("[fox]") == true)
    #expect(found.allSatisfy { $0.distance == nil })
    let near = try Query<Place>(filter: #"{"at":{"$nearSphere":[0.0,0.0]}}"#)
    let nearest = try await places.find(near, with: [.distance]).all()
    #expect(nearest.map(\.entity.id) == ["a", "b"])
    #expect(nearest.first?.distance == 0 && (nearest.last?.distance ?? 0) > 100_000)
    // What was found can be saved as it is.
    if let match = found.first { try await places.save(match.entity) }
    #expect(try await places.find(id: "b") == saved[1])
    let nothing = await #expect(throws: KVStoreError.self) {
      try await places.find(near, with: [.score]).all()
    }
    #expect(nothing?.code == .invalid)
    await local.client.close()
  }
}
