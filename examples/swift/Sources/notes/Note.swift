import KVStore

/// The entity: any `Codable` type whose id is called `_id` in JSON.
struct Note: Codable, Sendable {
  var id: String?
  var text: String
  var priority = 1
  var due: Timestamp?
  var tags: [String] = []

  enum CodingKeys: String, CodingKey {
    case id = "_id"
    case text, priority, due, tags
  }
}
