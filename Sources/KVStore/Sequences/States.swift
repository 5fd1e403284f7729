/// States of something, each as it is when the loop asks for the next: see `KVStoreClient.statuses` and `Follow.statuses`.
///
///     for try await status in try client.statuses() {
///       print(status.pending, "waiting,", status.quarantined, "quarantined")
///     }
///
/// For one loop. A state that nobody has asked for gives way to the next. It ends when its task is cancelled, when nobody
/// has it any more, and when the client is closed.
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
