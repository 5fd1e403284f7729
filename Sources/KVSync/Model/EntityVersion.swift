/// Which version of an entity there is: its `_kmd.lmt`, nil if it has none.
package struct EntityVersion: Sendable, Equatable {
  package var id: String
  package var lastModified: String?
  package init(id: String, lastModified: String?) {
    self.id = id
    self.lastModified = lastModified
  }
}
