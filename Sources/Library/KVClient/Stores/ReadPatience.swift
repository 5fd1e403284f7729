internal import KVBase
internal import KVSync

/// Doubles the time for a read after each one that received something and did not end: reading again and again from
/// the start would never reach the end.
final class ReadPatience: Sendable {
  /// The default in seconds, and the most that it becomes.
  private static let (usual, longest) = (60.0, 3600.0)

  private let factor = Monitor(1.0)

  func reading(
    _ options: Options, _ cancellation: Cancellation,
    body: (DataStore.Run) throws(StoreError) -> Void
  ) throws(StoreError) {
    var options = options
    options.timeout = min(
      Self.longest, (options.timeout ?? Self.usual) * factor.withLock { $0 })
    let run = DataStore.Run(options, cancellation: cancellation)
    do throws(StoreError) {
      try body(run)
      factor.withLock { $0 = 1 }
    } catch {
      let progress = run.progress.snapshot
      if error.kind == .timeout, progress.bytesDone > 0 || progress.entitiesDone > 0 {
        factor.withLock { $0 = min($0 * 2, Self.longest) }
      }
      throw error
    }
  }
}
