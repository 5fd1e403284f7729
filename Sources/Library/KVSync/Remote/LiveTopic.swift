internal import KVBase

/// What can be subscribed to: a collection, or the part of a user-to-user stream that belongs to one user. Compared
/// byte by byte.
package struct LiveTopic: Sendable, Hashable {
  private let name: RecordID
  private let owner: RecordID?

  package static func collection(_ name: String) -> LiveTopic {
    LiveTopic(name: RecordID(name), owner: nil)
  }

  package static func substream(_ stream: String, of owner: String) -> LiveTopic {
    LiveTopic(name: RecordID(stream), owner: RecordID(owner))
  }

  /// Nil for a substream.
  package var collection: String? { owner == nil ? name.text : nil }

  /// Nil for a collection.
  package var substream: (stream: String, owner: String)? { owner.map { (name.text, $0.text) } }
}
