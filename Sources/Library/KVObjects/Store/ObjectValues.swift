package import KVQuery
package import KVSync

/// What a store has of one object at one moment.
package struct ObjectValues: Sendable, Equatable {
  /// The record, a JSON object: its attributes, and in the members that to-one relationships name the ids of other objects.
  /// An absent member is null.
  package var body: [UInt8]
  /// A number that differs after each change of the record, whatever changed it.
  package var version: Int64

  package init(_ body: [UInt8], version: Int64) {
    self.body = body
    self.version = version
  }
}

/// What a context asks of a store for a fetch.
package struct ObjectFetch: Sendable {
  package let collection: String
  package let query: Query
  /// Records and ids are both answered by `.objects`.
  package let content: ResultsRequest.Content

  package init(_ collection: String, _ query: Query, as content: ResultsRequest.Content) {
    self.collection = collection
    self.query = query
    self.content = content
  }
}

/// A store's answer to a fetch.
package enum FetchedObjects: Sendable {
  /// Objects in the query's order. `values` may be empty, or has those of each object that came along with its id: complete
  /// records are kept, the others are faults.
  case objects([ObjectID], values: [ObjectValues?] = [])
  /// Dictionaries, each a JSON object.
  case rows(any RecordSource)
  case count(Int)
}

/// The objects that relationships lead to.
package struct RelatedObjects: Sendable {
  /// For each object that was asked for, in the same order: the ids that its relationship leads to.
  package var ids: [[ObjectID]]
  /// The values of related objects that came along.
  package var values: [ObjectID: ObjectValues]

  package init(ids: [[ObjectID]], values: [ObjectID: ObjectValues] = [:]) {
    self.ids = ids
    self.values = values
  }
}
