internal import Synchronization

/// A cache inside a query for what its executor has made of it.
///
/// Copies of a query share it, also those that were changed afterwards: what is found here may have been made of
/// another query and has to be checked. All memos are equal.
package struct QueryMemo: Sendable, Equatable {
  private final class Kept: Sendable {
    let object = Mutex<(any AnyObject & Sendable)?>(nil)
  }

  private let kept = Kept()
  /// What the query has in common with others; nil: nothing that is known, or its filter was changed.
  package internal(set) var shape: QueryShape?

  package init() {}

  package var object: (any AnyObject & Sendable)? { kept.object.withLock { $0 } }

  package func keep(_ object: any AnyObject & Sendable) { kept.object.withLock { $0 = object } }

  package static func == (left: QueryMemo, right: QueryMemo) -> Bool { true }
}
