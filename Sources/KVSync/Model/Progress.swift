internal import KVBase

/// How far an operation is. Written by the operation, read from any thread.
package final class Progress: Sendable {
  package struct Snapshot: Sendable, Equatable {
    package var entitiesDone: UInt64 = 0
    package var entitiesTotal: UInt64 = 0
    package var bytesDone: UInt64 = 0
    package var bytesTotal: UInt64 = 0
    package init() {}
  }

  private let state = Monitor(Snapshot())

  package init() {}

  package var snapshot: Snapshot { state.peek { $0 } }

  package func update(_ change: (inout Snapshot) -> Void) { state.peek { change(&$0) } }
}
