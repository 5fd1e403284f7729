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
  /// Why it was made without being asked for: `scans`, what these `examined` and `returned`, and how many `bytes` the index
  /// took. Nil if the application created it.
  public let automatic: [String: Int]?
}
