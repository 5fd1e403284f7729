package import KVQuery

/// Records with their local versions, several at a time: what contexts of objects need of a local store. Safe from any
/// thread.
package protocol VersionedRecords: AnyObject, Sendable {
  /// Reads records of one moment, in the order of the ids; nil for one that is not there. Ends early, but not before the
  /// first one, once what was read has more than `maxBytes`.
  func records(
    _ ids: [String], in collection: String, maxBytes: Int
  ) throws(StoreError) -> [VersionedRecord?]

  /// Passes each record that matches to `receive`, in the order of the query, at one moment of the data.
  func records(
    of query: Query, in collection: String, _ receive: (VersionedRecord) -> Void
  ) throws(StoreError)

  /// Makes all changes in one transaction that is durable when this returns, and queues their writes; or none, if a record
  /// has another version than the change expects.
  func write(_ changes: [VersionedWrite]) throws(StoreError) -> VersionedOutcome
}

package struct VersionedRecord: Sendable, Equatable {
  package let id: String
  /// See `EntityReader.version`.
  package let version: Int64
  package let body: [UInt8]

  package init(id: String, version: Int64, body: [UInt8]) {
    (self.id, self.version, self.body) = (id, version, body)
  }
}

/// One change of a record that has, or has not, been read.
package struct VersionedWrite: Sendable {
  package let collection: String
  package let id: String
  /// The version that the record must have; nil: there must be none.
  package let version: Int64?
  /// The record; nil: it is deleted.
  package let body: [UInt8]?
  /// Whether the id was made here, so that no backend can have it.
  package let hasNewID: Bool

  package init(
    _ id: String, in collection: String, version: Int64?, body: [UInt8]?, hasNewID: Bool = false
  ) {
    (self.collection, self.id, self.version) = (collection, id, version)
    (self.body, self.hasNewID) = (body, hasNewID)
  }
}

package enum VersionedOutcome: Sendable {
  /// The records as they are stored now; nil for one that was deleted.
  case written([VersionedRecord?])
  /// Nothing was written. Has the positions of the changes that expected something else, and what is there.
  case conflicts([(index: Int, stored: VersionedRecord?)])
}
