/// The changes of a context that a store is to make all at once, or not at all.
package struct ObjectSave: Sendable {
  /// One object and what it becomes.
  package struct Change: Sendable {
    package let id: ObjectID
    /// The version that the context has read; nil: it has read none, so no object may have this id.
    package let version: Int64?
    /// The whole record, with its id; empty for a deletion.
    package let body: [UInt8]
    /// Whether the id was made by the context, so that no other object can have it.
    package let hasNewID: Bool

    package init(_ id: ObjectID, version: Int64?, body: [UInt8], hasNewID: Bool = false) {
      self.id = id
      self.version = version
      self.body = body
      self.hasNewID = hasNewID
    }
  }

  /// In the order in which they were inserted.
  package var inserted: [Change] = []
  package var updated: [Change] = []
  package var deleted: [Change] = []

  package init() {}

  package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// What became of a save.
package enum ObjectSaveOutcome: Sendable {
  /// Everything was written. Has the values of the inserted objects and then of the updated ones, in their order, as they
  /// are stored now.
  case saved([ObjectValues])
  /// Nothing was written: these objects have other versions than those that were read.
  case conflicts([Stored])

  /// An object of which the store has another version than the context has read.
  package struct Stored: Sendable, Equatable {
    package let id: ObjectID
    /// What the store has; nil: the object was deleted.
    package let values: ObjectValues?

    package init(_ id: ObjectID, _ values: ObjectValues?) {
      self.id = id
      self.values = values
    }
  }
}
