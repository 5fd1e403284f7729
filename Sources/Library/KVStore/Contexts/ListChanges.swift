internal import KVClient
internal import KVSync

/// The positions at which a list has changed: see `Results.changes`.
///
///     for try await update in try everybody.changes() {
///       for position in update.changes.insertions {
///         print(try await update.list[position].entity?.name ?? "gone")
///       }
///     }
public struct ListChanges: Sendable, Equatable {
  /// An entity that was at the position `from` and is at the position `to`.
  public struct Move: Sendable, Equatable {
    /// The position in the list before.
    public let from: Int
    /// The position in the list now.
    public let to: Int
  }

  /// The number of entities now.
  public let count: Int
  /// Positions in the list before, the last one first.
  public let deletions: [Int]
  /// The entities that have moved, in ascending order of `to`.
  public let moves: [Move]
  /// Positions in the list now.
  public let insertions: [Int]
  /// Positions in the list now, of entities that were there before.
  public let modifications: [Int]

  init(_ changes: KVSync.ListChanges) {
    count = changes.count
    deletions = changes.deletions
    moves = changes.moves.map { Move(from: $0.from, to: $0.to) }
    insertions = changes.insertions
    modifications = changes.modifications
  }
}

/// A list that has changed: see `Results.changes`.
///
///     for try await update in try everybody.changes() { print(update.list.count) }
public struct ListUpdate<Entity: Decodable & Sendable>: Sendable {
  /// The list as it is now.
  public let list: Results<Entity>
  /// What has changed since the list before.
  public let changes: ListChanges
}

/// The changes of a list: see `Results.changes`.
///
///     for try await update in try everybody.changes() { print(update.changes.modifications) }
///
/// It is for one loop. A slow reader receives several changes as one. The sequence ends when its task is cancelled, when it
/// is no longer used, and when the client is closed.
public struct ListUpdates<Entity: Decodable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = ListUpdate<Entity>
  public typealias Failure = KVStoreError

  private let source: SignalledSource<KVSync.ListChanges>
  private let list: Results<Entity>

  init(_ source: SignalledSource<KVSync.ListChanges>, of list: Results<Entity>) {
    self.source = source
    self.list = list
  }

  public func makeAsyncIterator() -> Iterator { Iterator(source: source, list: list) }

  public struct Iterator: AsyncIteratorProtocol {
    let source: SignalledSource<KVSync.ListChanges>
    let list: Results<Entity>

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(KVStoreError) -> ListUpdate<Entity>? {
      guard let changes = try await source.next() else { return nil }
      return ListUpdate(list: list.whole(of: changes.count), changes: ListChanges(changes))
    }

    public mutating func next() async throws(KVStoreError) -> ListUpdate<Entity>? {
      try await next(isolation: nil)
    }
  }
}
