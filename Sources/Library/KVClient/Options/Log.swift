internal import KVBase
internal import KVSync

/// Where the lines of a client's log go. Lines never contain tokens, secrets or bodies.
package final class Log: Sendable {
  package enum Level: Int32, Sendable {
    case error = 1
    case warning
    case info
    case debug
  }

  private struct State {
    var level: Int32 = 0
    var write: (@Sendable (Int32, String) -> Void)?
  }

  private let state = Monitor(State())

  init() {}

  /// Sends lines up to `level` to `write`, on whichever thread they come up. Nil: nowhere.
  package func set(level: Int32, _ write: (@Sendable (Int32, String) -> Void)?) {
    state.withLock { $0 = State(level: write == nil ? 0 : level, write: write) }
  }

  func write(_ level: Level, _ text: @autoclosure () -> String) {
    let write = state.withLock { level.rawValue <= $0.level ? $0.write : nil }
    write?(level.rawValue, text())
  }

  /// Runs an operation and says what came of it; of the backend's words only the name of its error, since
  /// they may repeat what it was sent.
  func measuring<R>(
    _ operation: StaticString, of collection: String? = nil, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    // Built only if the log has an observer: this is on every path.
    func name() -> String { collection.map { "\(operation) \($0)" } ?? "\(operation)" }
    do throws(StoreError) {
      let result = try body()
      write(.debug, "\(name()): done")
      return result
    } catch {
      let isNotable = error.kind != .notFound && error.kind != .cancelled
      write(isNotable ? .warning : .debug, "\(name()): \(error.kind.name)\(Self.reason(error))")
      throw error
    }
  }

  private static func reason(_ error: StoreError) -> String {
    guard let answer = error.answer else { return ": \(error.message)" }
    let request = answer.requestId.map { ", request \($0)" } ?? ""
    guard answer.status != 0 else { return ": \(error.message)" }
    return ": status \(answer.status) \(answer.error ?? "")\(request)"
  }
}
