package import KVJSON

/// The id and version of an entity; nil if it has none.
package struct EntityVersion: Sendable, Equatable {
  package var id: String
  package var version: RecordVersion?
  package init(id: String, version: RecordVersion?) {
    self.id = id
    self.version = version
  }
}
