/// A record that the backend's data has changed here.
package struct ReceivedRecord: Sendable, Equatable {
  package enum Change: String, Sendable { case create, update, delete }

  package let id: String
  package let change: Change

  package init(_ id: String, _ change: Change) { (self.id, self.change) = (id, change) }
}
