/// An entity after a local save.
package struct SavedEntity: Sendable, Equatable {
  package var id: String
  package var bytes: [UInt8]
  package init(id: String, bytes: [UInt8]) {
    self.id = id
    self.bytes = bytes
  }
}
