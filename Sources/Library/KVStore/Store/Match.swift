internal import KVJSON
internal import KVQuery
internal import KVSync

/// A value that a find computes for each result.
///
///     let query = try Query<Person>(filter: #"{"$text":{"$search":"fox"}}"#)
///     for try await match in people.find(query.sortedByRelevance(), with: [.score, .snippet(words: 8)]) {
///       print(match.entity.name, match.score ?? 0, match.snippet ?? "")
///     }
public enum Computed: Sendable, Hashable {
  /// How well the entity matches the query's text search. More is better.
  case score
  /// The distance in metres from the point in the query's `$nearSphere`.
  case distance
  /// The part of the entity's text that best shows why the search found it, with marks around the words. Nothing in it
  /// is escaped.
  case snippet(words: Int = 20, start: String = "<b>", end: String = "</b>")
}

/// A found entity with its computed values: see `DataStore.find(_:with:)`.
///
///     let query = try Query<Person>(filter: #"{"home":{"$nearSphere":[-71.06,42.36]}}"#)
///     let nearest = try await people.find(query, with: [.distance]).first()
///     print(nearest?.entity.name ?? "none", nearest?.distance ?? 0)
public struct Match<Entity: Codable & Sendable>: Codable, Sendable {
  /// The entity.
  public let entity: Entity
  /// How well it matches the text search, if that was requested.
  public let score: Double?
  /// The distance in metres, if that was requested.
  public let distance: Double?
  /// The part of its text with the words, if that was requested.
  public let snippet: String?

  public init(from decoder: any Decoder) throws {
    entity = try Entity(from: decoder)
    let computed = try decoder.container(keyedBy: ComputedKey.self)
    score = try computed.decodeIfPresent(Double.self, forKey: .score)
    distance = try computed.decodeIfPresent(Double.self, forKey: .distance)
    snippet = try computed.decodeIfPresent(String.self, forKey: .snippet)
  }

  /// Encodes only the entity, because computed values are not stored.
  public func encode(to encoder: any Encoder) throws { try entity.encode(to: encoder) }
}

/// The names of the computed members, which no entity has.
private enum ComputedKey: String, CodingKey {
  case score = "kvstore:score"
  case distance = "kvstore:distance"
  case snippet = "kvstore:snippet"
}

extension DataStore {
  /// Finds the entities that a query selects, with computed values for each: its text score, its distance, or the text
  /// around the words that were found.
  ///
  /// Reading the first result throws `.invalid` if the query has no `$text` for a score or snippet, or no `$nearSphere`
  /// for a distance.
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
