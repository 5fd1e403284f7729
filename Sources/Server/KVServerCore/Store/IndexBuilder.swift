package import KVBase

/// Fills new indexes, and removes the rows of dropped ones: as part of the request that asks for it as long as this lasts, and
/// otherwise, or after a restart, on a thread of its own. The same thread does what automatic indexes need. Safe from any thread.
package final class IndexBuilder: Sendable {
  /// Seconds after which it is looked whether another server has left work.
  private static let pause = 30.0
  /// Seconds until work that failed is tried again.
  private static let retry = 1.0

  private enum Signal { case none, work, close }

  private let indexes: any IndexStore
  private let automatic: AutomaticIndexes?
  private let log: Log
  private let signal = Monitor(Signal.none)

  package init(_ indexes: any IndexStore, automatic: AutomaticIndexes?, log: Log) {
    self.indexes = indexes
    self.automatic = automatic
    self.log = log
  }

  package func start() {
    // Weak, as this holds them, or neither would ever go.
    automatic?.start { [weak self] in self?.wake() }
    _ = Worker("kv-indexes") { [self] in
      var wait = 0.0
      while next(after: wait) != .close {
        do throws(ServerError) {
          try automatic?.work(on: indexes)
          wait = try indexes.buildNext() ? 0 : Self.pause
        } catch {
          if wait != Self.retry { report(error) }
          wait = Self.retry
        }
      }
    }
  }

  package func close() { signal.withLockNotifyingAll { $0 = .close } }

  /// Works until nothing is left or the budget is exhausted; the thread does the rest.
  package func work(within budget: WorkBudget) {
    do throws(ServerError) {
      while budget.exhaustion == nil { if try !indexes.buildNext() { return } }
    } catch {
      report(error)
    }
    wake()
  }

  private func wake() { signal.withLockNotifyingAll { if $0 != .close { $0 = .work } } }

  private func report(_ error: ServerError) {
    log.warning("the work on indexes has to wait: \(error.cause ?? error.debug)")
  }

  private func next(after seconds: Double) -> Signal {
    let found = signal.wait(until: .after(seconds: seconds)) { signal -> Signal? in
      defer { if signal == .work { signal = .none } }
      return signal == .none ? nil : signal
    }
    return found ?? .none
  }
}
