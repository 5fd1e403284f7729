/// An index of a local collection: see `DataStore.createIndex`.
///
///     for index in try await people.indexes() where index.state == "unusable" {
///       try await people.dropIndex(index.name)
///     }
public struct Index: Sendable, Equatable, Decodable {
  /// The name of the index.
  public let name: String
  /// The state: `ready`, `building` or `unusable`.
  public let state: String
}
