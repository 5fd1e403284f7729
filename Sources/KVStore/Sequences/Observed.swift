internal import KVClient
internal import KVSync

/// What changes in the result of a query, from whomever: see `DataStore.observe`.
///
///     var shown: [Person] = []
///     for try await changes in try people.observe(Query(\.age > 30).sorted(by: \.name)) {
///       changes.apply(to: &shown)
///     }
///
/// For one loop. A reader that is slow gets several changes as one: memory does not grow with what is written meanwhile. It
/// ends when its task is cancelled, when nobody has it any more, and when the client is closed.
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
        // What follows would change a result that the loop never got.
        source.end()
        throw error
      }
    }

    public mutating func next() async throws(KVStoreError) -> Changes<Entity>? {
      try await next(isolation: nil)
    }
  }
}
