internal import KVBase
internal import KVSync

/// The lists of results of a client, so that none of them shows records of a user who has logged out. Safe from any thread.
final class OpenResults: Sendable {
  private struct WeakResults: Sendable {
    weak var value: FetchedResults?
  }

  private struct State {
    var lists: [WeakResults] = []
    /// How many lists there may be before those that are gone are looked for.
    var limit = 64
    var logouts = 0
  }

  private let state = Monitor(State())

  /// How many logouts there were.
  var logouts: Int { state.withLock { $0.logouts } }

  /// Adds a list that was begun after so many logouts; if there was another one since, the list ends.
  func add(_ results: FetchedResults, begunAfter logouts: Int) {
    let isCurrent = state.withLock { state in
      guard state.logouts == logouts else { return false }
      if state.lists.count >= state.limit {
        state.lists.removeAll { $0.value == nil }
        state.limit = max(64, 2 * state.lists.count)
      }
      state.lists.append(WeakResults(value: results))
      return true
    }
    if !isCurrent { Self.end(results) }
  }

  /// The user has logged out: every list ends.
  func endAll() {
    let lists = state.withLock { state in
      defer { (state.lists, state.logouts) = ([], state.logouts + 1) }
      return state.lists.compactMap(\.value)
    }
    for results in lists { Self.end(results) }
  }

  private static func end(_ results: FetchedResults) {
    results.end(StoreError(.noUser, "The user has logged out since these results were fetched."))
  }
}
