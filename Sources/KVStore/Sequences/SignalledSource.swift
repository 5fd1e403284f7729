internal import KVBase
internal import KVClient
internal import KVSync

/// A state that one reader asks for, as it is when there is something new: however often it changes meanwhile, one signal
/// waits. Ends with the reader's task, and with the client.
final class SignalledSource<State: Sendable>: Sendable {
  private let signals: EventBuffer<Void>
  private let state: @Sendable () throws(StoreError) -> State?
  private let client: KVStoreClient

  /// `signals`: one for each change, see `EventBuffer.signal`; `end` stops whoever sends them. `state` nil: there is
  /// nothing new.
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

  /// Waits for something new; nil: it has ended.
  func next() async throws(KVStoreError) -> State? {
    while await signals.next() != nil {
      do throws(KVStoreError) {
        let state = try await client.perform(isLocal: true) {
          [state] (_) throws(StoreError) in try state()
        }
        if let state { return state }
      } catch {
        guard error.code == .cancelled || error.code == .misuse else { throw error }
        return nil
      }
    }
    return nil
  }
}

extension EventBuffer<Void> {
  /// What somebody calls who has something new.
  var signal: @Sendable () -> Void { { [weak self] in self?.send(()) } }

  /// Of which one waits, however many come.
  static func signals() -> EventBuffer<Void> { EventBuffer(limit: 1) }
}
