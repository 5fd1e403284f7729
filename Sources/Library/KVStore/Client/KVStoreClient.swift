internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// One application on one backend, with one data directory. Programs start by opening a client.
///
///     let client = try KVStoreClient(Configuration(appKey: "kid_demo", backend: .none))
///     let people = try client.store("people", of: Person.self)
///     let ann = try await people.save(Person(name: "Ann", age: 31))
///     await client.close()
///
/// A client may be used from any task and thread. Opening makes no request. Calls run on threads of the library and
/// never block a thread of Swift's pool. If a task is cancelled, its call throws `.cancelled`; what was written by then
/// stays written.
public final class KVStoreClient: Sendable {
  let core: Client
  /// The streams that closing the client ends.
  private let streams = Monitor<(isClosed: Bool, open: [ObjectIdentifier: WeakStream])>(
    (false, [:]))

  private struct WeakStream: Sendable {
    weak var value: (any EndableStream)?
  }

  /// Opens the data files. Throws `.invalid`, with the name of the option, `.storage`, `.corrupt`, `.full` or `.busy`.
  public init(_ configuration: Configuration) throws(KVStoreError) {
    let options = try configuration.options
    guard let migration = configuration.migration else {
      core = try KVStoreError.mapping { () throws(StoreError) in try Client(options) }
      return
    }
    core = try migration.opening(options)
  }

  deinit { endStreams() }

  /// The models of a GraphQL schema as JSON, as `Configuration.schema` reads them, for programs that write code from it:
  /// `docs/models.md` has its members. Throws `.invalid`, with line and column, for a mistake in the schema.
  ///
  ///     let json = try KVStoreClient.describe(schema: "type Post @model { title: String! }")
  public static func describe(schema: String) throws(KVStoreError) -> String {
    try KVStoreError.mapping { () throws(StoreError) in
      try ClientModels.description(of: schema)
    }
  }

  /// Cancels all running calls, waits for their end, and closes the files. Pending writes are kept. Later calls throw
  /// `.misuse`. An unused client closes itself.
  public func close() async {
    endStreams()
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let worker = Worker("kv-close") { [core] in
        core.close()
        continuation.resume()
      }
      guard worker == nil else { return }
      core.close()
      continuation.resume()
    }
  }

  // MARK: Calls

  /// Runs a call on a thread of the library. Cancelling the task cancels the call.
  func perform<Value: Sendable>(
    isLocal: Bool,
    _ body: @escaping @Sendable (Cancellation) throws(StoreError) -> Value
  ) async throws(KVStoreError) -> Value {
    let cancellation = Cancellation()
    let runner = isLocal ? core.runners.local : core.runners.network
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let begun = Result { () throws(StoreError) in
          try runner.run {
            continuation.resume(
              returning: Result { () throws(StoreError) in
                guard !cancellation.isCancelled else { throw .taskCancelled }
                return try body(cancellation)
              })
          }
        }
        if case .failure(let error) = begun { continuation.resume(returning: .failure(error)) }
      }
    } onCancel: {
      cancellation.cancel()
    }
    return try result.mapError(KVStoreError.init).get()
  }

  /// Runs a call that always sends a request.
  func asking<Value: Sendable>(
    _ options: CallOptions,
    _ body: @escaping @Sendable (Client, Options, Cancellation) throws(StoreError) -> Value
  ) async throws(KVStoreError) -> Value {
    let options = try options.options ?? Options()
    return try await perform(isLocal: false) { [core] (cancellation) throws(StoreError) in
      try body(core, options, cancellation)
    }
  }

  // MARK: Streams

  /// Adds a stream that closing the client ends.
  func remember(_ stream: any EndableStream) {
    let isTooLate = streams.withLock { streams in
      if streams.open.count % 64 == 63 {
        streams.open = streams.open.filter { $0.value.value != nil }
      }
      streams.open[ObjectIdentifier(stream)] = WeakStream(value: stream)
      return streams.isClosed
    }
    if isTooLate { stream.end() }
  }

  private func endStreams() {
    let open = streams.withLock { streams in
      defer { streams = (true, [:]) }
      return streams.open.values.compactMap(\.value)
    }
    for stream in open { stream.end() }
  }
}

/// A stream that continues until it is ended.
protocol EndableStream: AnyObject, Sendable {
  /// Ends the stream. It may be called more than once, from any thread.
  func end()
}

extension StoreError {
  static var taskCancelled: StoreError { StoreError(.cancelled, "The task was cancelled.") }
}
