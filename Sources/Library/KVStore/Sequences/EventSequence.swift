/// A sequence of events: live data, messages of a stream, or events of a client's synchronisation.
///
///     let events = client.syncEvents()
///     for await event in events {
///       if case .offline = event { break }
///     }
///
/// It is for one loop. At most 1,024 events wait for the loop. Further ones are dropped, and the loop receives an event
/// that reports this. The sequence ends when its task is cancelled, when it is no longer used, and when the client is
/// closed.
public struct EventSequence<Event: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Event
  public typealias Failure = Never

  private let buffer: EventBuffer<Event>
  /// The client stays open while the sequence is used.
  private let client: KVStoreClient

  /// `end` stops the sender of the events.
  init(
    _ buffer: EventBuffer<Event>, of client: KVStoreClient, end: @escaping @Sendable () -> Void
  ) {
    self.buffer = buffer
    self.client = client
    buffer.onEnd(end)
    client.remember(buffer)
  }

  public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

  public struct Iterator: AsyncIteratorProtocol {
    let events: EventSequence

    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Event? {
      await events.buffer.next()
    }

    public mutating func next() async -> Event? { await events.buffer.next() }
  }
}
