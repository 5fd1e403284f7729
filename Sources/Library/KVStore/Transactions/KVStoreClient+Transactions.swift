internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

extension KVStoreClient {
  /// Runs a closure in a transaction and commits it. When the call returns, the writes are on the disk.
  ///
  ///     struct NobodyThere: Error {}
  ///     let ann = try await client.transaction { transaction in
  ///       guard var ann = try transaction.find(id: "ann", in: people) else { throw NobodyThere() }
  ///       ann.age += 1
  ///       try transaction.save(ann, in: archive)
  ///       return try transaction.save(ann, in: people)
  ///     }
  ///
  /// The transaction locks nothing. If anything that the closure has read was changed before the commit, the closure
  /// runs again from its beginning, after a short random pause. This is repeated up to `retries` times or for `timeout`
  /// seconds; then the call throws `.conflict`. If the closure throws, nothing is written, and the call throws the same
  /// error.
  ///
  /// The closure runs on a thread of the library and may block it. `tag` is the tag of the stores; nil: the client's.
  @discardableResult @_disfavoredOverload
  public func transaction<Value: Sendable>(
    tag: String? = nil, retries: Int = 100, timeout: Double = 60,
    _ body: @escaping @Sendable (borrowing Transaction) throws -> Value
  ) async throws -> Value {
    try await outcome(tag, retries: retries, timeout: timeout, of: body).get()
  }

  /// Runs a closure that throws only errors of this library in a transaction.
  ///
  ///     func grow(by years: Int) async throws(KVStoreError) {
  ///       try await client.transaction { (transaction) throws(KVStoreError) in
  ///         try transaction.update(\.age < 18, Update().increment(\.age, by: years), in: people)
  ///       }
  ///     }
  @discardableResult
  public func transaction<Value: Sendable>(
    tag: String? = nil, retries: Int = 100, timeout: Double = 60,
    _ body: @escaping @Sendable (borrowing Transaction) throws(KVStoreError) -> Value
  ) async throws(KVStoreError) -> Value {
    try await outcome(tag, retries: retries, timeout: timeout, of: body).get()
  }

  /// Returns or throws the outcome of the closure, or throws the error of the library.
  private func outcome<Value: Sendable, Failure: Error>(
    _ tag: String?, retries: Int, timeout: Double,
    of body: @escaping @Sendable (borrowing Transaction) throws(Failure) -> Value
  ) async throws(KVStoreError) -> Result<Value, Failure> {
    var options: JSONObject = ["retries": .int(Int64(retries)), "timeout": .double(timeout)]
    options.set("tag", tag)
    return try await perform(isLocal: true) { [core, options] (cancellation) throws(StoreError) in
      var thrown: Failure?
      do throws(StoreError) {
        return .success(
          try core.transact(options, cancellation: cancellation) {
            (transaction) throws(StoreError) in
            do throws(Failure) { return try body(Transaction(transaction)) } catch {
              thrown = error
              throw StoreError(.cancelled, "The transaction was cancelled.")
            }
          })
      } catch {
        guard let thrown else { throw error }
        return .failure(thrown)
      }
    }
  }
}
