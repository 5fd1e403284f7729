import KVStore
import KVTestSupport

struct Home: Codable, Sendable, Equatable {
  var city: String
  var zip: Int?
}

enum Mood: String, Codable, Sendable, CaseIterable { case calm, merry }

struct Person: Codable, Sendable, Equatable {
  var id: String?
  var name: String
  var age: Int
  var height: Double?
  var isMember = false
  var mood: Mood?
  var tags: [String] = []
  var home: Home?
  var born: Timestamp?
  var scores: [String: Int] = [:]

  var isAdult: Bool { age >= 18 }
  var nickname: String { name.lowercased() }

  enum CodingKeys: String, CodingKey {
    case id = "_id"
    case name, age, height
    case isMember = "member"
    case mood, tags, home, born, scores
  }
}

/// A local database of its own, which is deleted with this.
final class Local: Sendable {
  let directory = TemporaryDirectory()
  let client: KVStoreClient

  let people: DataStore<Person>

  init() throws {
    client = try Self.open(in: directory)
    people = try client.store("people", of: Person.self)
  }

  static func open(in directory: TemporaryDirectory) throws -> KVStoreClient {
    var configuration = Configuration(appKey: "kid_test", backend: .none)
    configuration.dataDirectory = directory.path
    configuration.durability = .normal
    return try KVStoreClient(configuration)
  }
}
