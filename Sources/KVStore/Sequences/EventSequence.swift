/// Events as they come: live data, what is said in a stream, or what happens while a client synchronises.
///
///     let events = client.syncEvents()
///     for await event in events {
///       if case .offline = event { break }
///     }
///
/// For one loop. Up to 1,024 events wait for it; what comes then is dropped, and the loop gets an event
/// that says so. It ends when its task is cancelled, when nobody has it any more, and when the client is closed.
public struct EventSequence<Event: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Event
  public typealias Failure = Never

  private let buffer: EventBuffer<Event>
  /// Stays open as long as somebody listens.
  private let client: KVStoreClient

  /// `end` stops whoever sends the events.
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
