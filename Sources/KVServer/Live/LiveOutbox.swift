internal import KVBase

/// Brings what was written to the broker in the order of the commits, and only what was committed.
///
/// Transactions run one after the other, but the threads that ran them come back in any order: each takes a number
/// inside its transaction, and nothing is told before all with lower numbers are known to have ended.
final class LiveOutbox: Sendable {
  private enum Ending {
    case committed(LiveChanges)
    case failed
  }

  private struct State {
    var begun = 0
    var told = 0
    var ended: [Int: Ending] = [:]
  }

  private let state = Monitor(State())
  private let brokers: [Int64: LiveBroker]

  /// By the numbers of the apps.
  init(_ brokers: [Int64: LiveBroker]) { self.brokers = brokers }

  /// To be called inside the transaction.
  func begin() -> Int {
    state.peek { state in
      state.begun += 1
      return state.begun
    }
  }

  /// `changes` nil: nothing was written. To be called once for each number, after the transaction.
  func end(_ number: Int, _ changes: LiveChanges?) {
    state.peek { state in
      state.ended[number] = changes.map { .committed($0) } ?? .failed
      while let next = state.ended.removeValue(forKey: state.told + 1) {
        state.told += 1
        guard case .committed(let changes) = next, !changes.list.isEmpty else { continue }
        brokers[changes.collection.app]?.publish(changes)
      }
    }
  }
}
