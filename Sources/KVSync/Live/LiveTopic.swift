/// What somebody listens to: a collection, or the part of a user-to-user stream that belongs to one user. Compared
/// byte by byte.
package struct LiveTopic: Sendable, Hashable {
  private let name: EntityKey
  private let owner: EntityKey?

  package static func collection(_ name: String) -> LiveTopic {
    LiveTopic(name: EntityKey(name), owner: nil)
  }

  package static func substream(_ stream: String, of owner: String) -> LiveTopic {
    LiveTopic(name: EntityKey(stream), owner: EntityKey(owner))
  }

  /// Nil for a substream.
  package var collection: String? { owner == nil ? name.id : nil }

  /// Nil for a collection.
  package var substream: (stream: String, owner: String)? { owner.map { (name.id, $0.id) } }
}
