/// An index of a local collection.
public struct Index: Sendable, Equatable, Decodable {
  public let name: String
  /// `ready`, `building`, or `unusable`.
  public let state: String
}
