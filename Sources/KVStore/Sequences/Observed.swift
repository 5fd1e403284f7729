internal import KVClient
internal import KVSync

/// What changes in the result of a query, from whomever: see `DataStore.observe`.
///
/// For one loop. A reader that is slow gets several changes as one: memory does not grow with what is written meanwhile. It
/// ends when its task is cancelled, when nobody has it any more, and when the client is closed.
public struct Observed<Entity: Codable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = Changes<Entity>
  public typealias Failure = KVStoreError

  private let source: ObservedSource

  init(_ source: ObservedSource) { self.source = source }

  public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

  public struct Iterator: AsyncIteratorProtocol {
    let source: ObservedSource

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(KVStoreError) -> Changes<Entity>? {
      guard let changes = try await source.next() else { return nil }
      do throws(KVStoreError) { return try Changes(changes) } catch {
        // What follows would change a result that was never told.
        source.signals.end()
        throw error
      }
    }

    public mutating func next() async throws(KVStoreError) -> Changes<Entity>? {
      try await next(isolation: nil)
    }
  }
}

/// Looks what has changed when a reader asks: however much is written meanwhile, one signal waits.
final class ObservedSource: Sendable {
  let signals = EventBuffer<Void>(limit: 1)
  private let observation: any Observation
  private let client: KVStoreClient

  init(
    _ client: KVStoreClient,
    _ observe: (@escaping @Sendable () -> Void) throws(StoreError) -> any Observation
  ) throws(KVStoreError) {
    let signals = self.signals
    do throws(StoreError) {
      let observation = try observe { [weak signals] in signals?.send(()) }
      self.observation = observation
      self.client = client
      signals.onEnd { observation.end() }
    } catch {
      throw KVStoreError(error)
    }
    client.remember(signals)
    signals.send(())
  }

  func next() async throws(KVStoreError) -> ResultChanges? {
    while await signals.next() != nil {
      do throws(KVStoreError) {
        let changes = try await client.perform(isLocal: true) {
          [observation] (_) throws(StoreError) in try observation.changes()
        }
        if let changes { return changes }
      } catch {
        guard error.code == .cancelled || error.code == .misuse else { throw error }
        return nil
      }
    }
    return nil
  }
}
