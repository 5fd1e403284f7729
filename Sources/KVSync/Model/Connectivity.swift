internal import KVBase

/// Whether the backend can be reached, as far as the last requests tell. Nothing is sent to find out.
///
/// Any answer means yes. A connection that could not be made or broke means no. A deadline that passed may be a
/// short deadline, so two of them in a row have to.
package final class Connectivity: Sendable {
  private struct State {
    var isOnline: Bool?
    var late = 0
  }

  private let state = Monitor(State())
  private let changed: @Sendable (_ isOnline: Bool) -> Void

  /// `changed` hears of each change, on the thread whose request told; of the first answer only if it is none.
  package init(_ changed: @escaping @Sendable (_ isOnline: Bool) -> Void) { self.changed = changed }

  /// Nil: nothing was asked yet.
  package var isOnline: Bool? { state.peek { $0.isOnline } }

  /// A request came to this; nil: to success.
  package func note(_ error: StoreError?) {
    guard let isOnline = verdict(on: error) else { return }
    let isNews = state.peek { state in
      defer { state.isOnline = isOnline }
      return isOnline ? state.isOnline == false : state.isOnline != false
    }
    if isNews { changed(isOnline) }
  }

  private func verdict(on error: StoreError?) -> Bool? {
    guard let error, error.answer == nil else {
      state.peek { $0.late = 0 }
      return true
    }
    switch error.kind {
    case .network: return false
    case .timeout:
      let late = state.peek { state in
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
      note(nil)
      return result
    } catch {
      note(error)
      throw error
    }
  }
}
