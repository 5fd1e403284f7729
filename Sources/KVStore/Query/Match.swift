internal import KVJSON
internal import KVQuery
internal import KVSync

/// What is known of a result of a find beside the entity.
///
///     let query = try Query<Person>(filter: #"{"$text":{"$search":"fox"}}"#)
///     for try await match in people.find(query.sortedByRelevance(), with: [.score, .snippet(words: 8)]) {
///       print(match.entity.name, match.score ?? 0, match.snippet ?? "")
///     }
public enum Computed: Sendable, Hashable {
  /// How well it fits the searches: a larger number fits better.
  case score
  /// How far it is from the place that it is to be near to, in metres.
  case distance
  /// The part of its texts that shows best why it was found, with these marks around what was searched for. Nothing in it is escaped.
  case snippet(words: Int = 20, start: String = "<b>", end: String = "</b>")
}

/// An entity that was found, with what was asked about it: see `DataStore.find(_:with:)`.
///
///     let query = try Query<Person>(filter: #"{"home":{"$nearSphere":[-71.06,42.36]}}"#)
///     let nearest = try await people.find(query, with: [.distance]).first()
///     print(nearest?.entity.name ?? "nobody", nearest?.distance ?? 0)
public struct Match<Entity: Codable & Sendable>: Codable, Sendable {
  public let entity: Entity
  public let score: Double?
  public let distance: Double?
  public let snippet: String?

  public init(from decoder: any Decoder) throws {
    entity = try Entity(from: decoder)
    let computed = try decoder.container(keyedBy: ComputedKey.self)
    score = try computed.decodeIfPresent(Double.self, forKey: .score)
    distance = try computed.decodeIfPresent(Double.self, forKey: .distance)
    snippet = try computed.decodeIfPresent(String.self, forKey: .snippet)
  }

  /// Only the entity: the rest is no part of what is stored.
  public func encode(to encoder: any Encoder) throws { try entity.encode(to: encoder) }
}

/// Names of computed members that no entity has.
private enum ComputedKey: String, CodingKey {
  case score = "kvstore:score"
  case distance = "kvstore:distance"
  case snippet = "kvstore:snippet"
}

extension DataStore {
  /// What a query selects, and what is known of each result beside it: how well it fits, how far away it is, where the words
  /// are that were searched for.
  ///
  /// Throws `.invalid`, when the first is asked for, if the query has no `$text` to fit, or no `$nearSphere` to be near to.
  public func find(
    _ query: Query<Entity>, with computed: Set<Computed>, options: CallOptions = CallOptions()
  ) -> Entities<Match<Entity>> {
    let matches = DataStore<Match<Entity>>(core, of: collection, client: client)
    return Entities(store: matches, query: query.computing(computed), options: options)
  }
}

extension Query {
  fileprivate func computing(_ computed: Set<Computed>) -> Query<Match<Entity>> {
    var members = JSONObject()
    for one in computed { members[one.key.rawValue] = one.json }
    return Query<Match<Entity>>(
      built: Result { () throws(KVStoreError) in
        let query = try built.get()
        do throws(QueryError) { return try query.computing(.object(members)) } catch {
          throw KVStoreError(StoreError(error))
        }
      })
  }
}

extension Computed {
  fileprivate var key: ComputedKey {
    switch self {
    case .score: .score
    case .distance: .distance
    case .snippet: .snippet
    }
  }

  fileprivate var json: JSONValue {
    switch self {
    case .score: ["$meta": "textScore"]
    case .distance: ["$meta": "geoNearDistance"]
    case .snippet(let words, let start, let end):
      [
        "$meta": "snippet", "words": .int(Int64(words)), "start": .string(start),
        "end": .string(end),
      ]
    }
  }
}
