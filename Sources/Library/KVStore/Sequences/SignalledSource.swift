internal import KVBase
internal import KVClient
internal import KVSync

/// A state that one reader requests after a signal. However often the state changes in the meantime, one signal waits.
/// It ends with the reader's task and with the client.
final class SignalledSource<State: Sendable>: Sendable {
  private let signals: EventBuffer<Void>
  private let state: @Sendable () throws(StoreError) -> State?
  private let client: KVStoreClient

  /// `signals` has one signal for each change: see `EventBuffer.signal`. `end` stops the sender. `state` returns nil if
  /// there is nothing new.
  init(
    _ signals: EventBuffer<Void>, of client: KVStoreClient,
    state: @escaping @Sendable () throws(StoreError) -> State?, end: @escaping @Sendable () -> Void
  ) {
    self.signals = signals
    self.state = state
    self.client = client
    signals.onEnd(end)
    client.remember(signals)
    signals.send(())
  }

  func end() { signals.end() }

  /// Waits for a new state; nil: the source has ended.
  func next() async throws(KVStoreError) -> State? {
    while await signals.next() != nil {
      do throws(KVStoreError) {
        let state = try await client.perform(isLocal: true) {
          [state] (_) throws(StoreError) in try state()
        }
        if let state { return state }
      } catch {
        // A cancellation during the read does not end the signals by itself, and the loop will not ask again.
        signals.end()
        guard error.code == .cancelled || error.code == .misuse else { throw error }
        return nil
      }
    }
    return nil
  }
}

extension EventBuffer<Void> {
  /// Reports a new state. The sender calls it.
  var signal: @Sendable () -> Void { { [weak self] in self?.send(()) } }

  /// A buffer in which at most one signal waits.
  static func signals() -> EventBuffer<Void> { EventBuffer(limit: 1) }
}
