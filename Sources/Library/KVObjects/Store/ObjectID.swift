package import KVBase

/// Names one object of a store: its collection and the key of its record.
///
/// The key is the text that the collection's `RecordFormat` makes of the reference object: a text as it is, an integer in
/// decimal digits, several members as a compact JSON array. It never changes, but that a store which chooses ids itself
/// replaces the temporary one of a new object at its first save.
package struct ObjectID: Hashable, Sendable, CustomStringConvertible {
  package let collection: RecordID
  package let key: RecordID

  package init(_ collection: String, _ key: String) {
    self.collection = RecordID(collection)
    self.key = RecordID(key)
  }

  package init(_ collection: RecordID, _ key: String) {
    self.collection = collection
    self.key = RecordID(key)
  }

  package var description: String { "\(collection)/\(key)" }
}
