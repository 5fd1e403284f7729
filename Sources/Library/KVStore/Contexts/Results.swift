internal import KVSync

/// What a query found, as a list that loads little by little. Which entities it has, and in which order, is fixed; what
/// they hold is read in batches when it is asked for, and nothing is held open in between.
///
///     let everybody = try await people.results(Query().sorted(by: \.name))
///     print(everybody.count, try await everybody[0].entity?.name ?? "gone")
///     for try await person in everybody[100..<120] { print(person.entity?.name ?? "gone") }
///
/// It takes eight bytes for each entity of a local store, and a cache of limited size. A slice shares both.
public struct Results<Entity: Decodable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = Fetched<Entity>
  public typealias Failure = KVStoreError

  private let fetched: FetchedResults
  private let client: KVStoreClient
  private let read: @Sendable (Int) async throws(KVStoreError) -> FetchedBatch
  /// The positions that it has.
  public let indices: Range<Int>

  /// `store`: on whose threads batches are read.
  init<Stored>(_ fetched: FetchedResults, of store: DataStore<Stored>) {
    self.fetched = fetched
    client = store.client
    indices = 0..<fetched.count
    read = { (position) async throws(KVStoreError) in
      try await store.reading(CallOptions()) { (_, _) throws(StoreError) in
        try fetched.batch(at: position)
      }
    }
  }

  /// A list whose entities are read through a context.
  init(_ fetched: FetchedResults, of context: Context) {
    self.fetched = fetched
    client = context.client
    indices = 0..<fetched.count
    read = { (position) async throws(KVStoreError) in
      try await context.perform { (_) throws(StoreError) in try fetched.batch(at: position) }
    }
  }

  private init(_ whole: Results, _ indices: Range<Int>) {
    (fetched, client, read) = (whole.fetched, whole.client, whole.read)
    self.indices = indices
  }

  /// The list after it has become one of so many entities.
  func whole(of count: Int) -> Results { Results(self, 0..<count) }

  /// The number of entities.
  public var count: Int { indices.count }

  /// Whether the list is empty.
  public var isEmpty: Bool { indices.isEmpty }

  /// The entity at a position. Reads it, with the rest of its batch, unless that was read lately. Throws `.invalid` if
  /// there is no such position.
  public subscript(position: Int) -> Fetched<Entity> {
    get async throws(KVStoreError) {
      guard indices.contains(position) else {
        throw KVStoreError(.invalid, "There is no entity \(position) in \(indices).")
      }
      return try Fetched(try await read(position), at: position)
    }
  }

  /// Some of the list, with the positions that they have in it; those outside of it are left out.
  public subscript(range: Range<Int>) -> Results { Results(self, range.clamped(to: indices)) }

  /// The number of batches that were read so far.
  public var reads: Int { fetched.statistics.reads }

  /// Forgets what was read: each entity is read again when it is next asked for.
  public func refresh() { fetched.refresh() }

  /// Has the list follow its query over the local data. Each element has the list as it is then, with the positions that
  /// have changed; the first one what has changed since the fetch, if anything has.
  ///
  ///     for try await update in try everybody.changes() { print(update.list.count) }
  ///
  /// A list that was made before an element shows, at the positions that are still there, what is there now. Throws `.misuse`
  /// while the list is followed, and `.unsupported` for groups and for network stores.
  public func changes() throws(KVStoreError) -> ListUpdates<Entity> {
    let signals = EventBuffer<Void>.signals()
    let followed = try KVStoreError.mapping { () throws(StoreError) in
      try fetched.follow(signals.signal)
    }
    let source = SignalledSource(signals, of: client) { () throws(StoreError) in
      try followed.changes()
    } end: {
      followed.end()
    }
    return ListUpdates(source, of: self)
  }

  public func makeAsyncIterator() -> Iterator { Iterator(indices, read) }

  /// All of them at once; those that were deleted are left out.
  public func all() async throws(KVStoreError) -> [Entity] {
    var entities: [Entity] = []
    var iterator = makeAsyncIterator()
    while let fetched = try await iterator.next() {
      if let entity = fetched.entity { entities.append(entity) }
    }
    return entities
  }

  public struct Iterator: AsyncIteratorProtocol {
    private var left: Range<Int>
    private let read: @Sendable (Int) async throws(KVStoreError) -> FetchedBatch
    private var batch: FetchedBatch?

    init(
      _ positions: Range<Int>,
      _ read: @escaping @Sendable (Int) async throws(KVStoreError) -> FetchedBatch
    ) {
      (left, self.read) = (positions, read)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(KVStoreError) -> Fetched<Entity>? {
      guard let position = left.first else { return nil }
      if batch?.range.contains(position) != true { batch = try await read(position) }
      left = position + 1..<left.upperBound
      guard let batch else { return nil }
      return try Fetched(batch, at: position)
    }

    public mutating func next() async throws(KVStoreError) -> Fetched<Entity>? {
      try await next(isolation: nil)
    }
  }
}
