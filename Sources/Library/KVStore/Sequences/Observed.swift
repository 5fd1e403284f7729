internal import KVClient
internal import KVSync

/// The changes of a query's result, whatever their cause: see `DataStore.observe`.
///
///     var shown: [Person] = []
///     for try await changes in try people.observe(Query(\.age > 30).sorted(by: \.name)) {
///       changes.apply(to: &shown)
///     }
///
/// It is for one loop. A slow reader receives several changes as one, so memory does not grow with the number of
/// writes. The sequence ends when its task is cancelled, when it is no longer used, and when the client is closed.
public struct Observed<Entity: Codable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = Changes<Entity>
  public typealias Failure = KVStoreError

  private let source: SignalledSource<ResultChanges>

  init(_ source: SignalledSource<ResultChanges>) { self.source = source }

  public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

  public struct Iterator: AsyncIteratorProtocol {
    let source: SignalledSource<ResultChanges>

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(KVStoreError) -> Changes<Entity>? {
      guard let changes = try await source.next() else { return nil }
      do throws(KVStoreError) { return try Changes(changes) } catch {
        // Later changes refer to a result that the loop did not receive.
        source.end()
        throw error
      }
    }

    public mutating func next() async throws(KVStoreError) -> Changes<Entity>? {
      try await next(isolation: nil)
    }
  }
}
