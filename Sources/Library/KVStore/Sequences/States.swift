/// A sequence of states, each as it is when the loop requests it: see `KVStoreClient.statuses` and `Follow.statuses`.
///
///     for try await status in try client.statuses() {
///       print(status.pending, "waiting,", status.quarantined, "quarantined")
///     }
///
/// It is for one loop. A newer state replaces one that was not read. The sequence ends when its task is cancelled, when
/// it is no longer used, and when the client is closed.
public struct States<State: Sendable>: AsyncSequence, Sendable {
  public typealias Element = State
  public typealias Failure = KVStoreError

  private let source: SignalledSource<State>

  init(_ source: SignalledSource<State>) { self.source = source }

  func end() { source.end() }

  public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

  public struct Iterator: AsyncIteratorProtocol {
    let source: SignalledSource<State>

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(KVStoreError) -> State? { try await source.next() }

    public mutating func next() async throws(KVStoreError) -> State? { try await source.next() }
  }
}
