package import KVJSON

/// Which version of an entity there is; nil if it has none.
package struct EntityVersion: Sendable, Equatable {
  package var id: String
  package var version: RecordVersion?
  package init(id: String, version: RecordVersion?) {
    self.id = id
    self.version = version
  }
}
