internal import KVBase

/// Whether the backend can be reached, as far as the last requests tell. Nothing is sent to find out.
///
/// An answer of the backend means yes; one of a proxy or a login page means nothing. A connection that could not be made or broke
/// means no. A deadline that passed may be a short deadline, so two of them in a row have to.
package final class Connectivity: Sendable {
  private struct State {
    var isOnline: Bool?
    var late = 0
    var answered: @Sendable () -> Void = {}
  }

  private let state = Monitor(State())
  private let changed: @Sendable (_ isOnline: Bool) -> Void

  /// `changed` hears of each change, on the thread whose request told; of the first answer only if it is none.
  package init(_ changed: @escaping @Sendable (_ isOnline: Bool) -> Void) { self.changed = changed }

  /// Nil: nothing was asked yet.
  package var isOnline: Bool? { state.withLock { $0.isOnline } }

  /// From now on `body` runs at each answer of the backend, on the thread whose request it was for.
  package func onAnswer(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.answered = body }
  }

  /// A request came to this; nil: to success.
  package func record(_ error: StoreError?) {
    guard let isOnline = verdict(on: error) else { return }
    let (isNews, answered) = state.withLock { state in
      defer { state.isOnline = isOnline }
      return (isOnline ? state.isOnline == false : state.isOnline != false, state.answered)
    }
    if isOnline { answered() }
    if isNews { changed(isOnline) }
  }

  private func verdict(on error: StoreError?) -> Bool? {
    guard let error, error.answer?.error == nil else {
      state.withLock { $0.late = 0 }
      return true
    }
    guard error.answer == nil else { return nil }
    switch error.kind {
    case .network: return false
    case .timeout:
      let late = state.withLock { state in
        state.late += 1
        return state.late
      }
      return late > 1 ? false : nil
    default: return nil
    }
  }

  /// Runs a request and notes what it comes to.
  package func noting<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) {
      let result = try body()
      record(nil)
      return result
    } catch {
      record(error)
      throw error
    }
  }
}
