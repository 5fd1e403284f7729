internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

extension KVStoreClient {
  /// Runs a closure in a transaction and commits it, so that everything is on the disk when this returns.
  ///
  ///     struct NobodyThere: Error {}
  ///     let ann = try await client.transaction { transaction in
  ///       guard var ann = try transaction.find(id: "ann", in: people) else { throw NobodyThere() }
  ///       ann.age += 1
  ///       try transaction.save(ann, in: archive)
  ///       return try transaction.save(ann, in: people)
  ///     }
  ///
  /// Nothing is locked meanwhile. If something that the closure has read was changed before the commit, by whomever, the
  /// closure runs once more from its beginning after a short random pause, `retries` times or for `timeout` seconds; then
  /// `.conflict` is thrown. What the closure throws comes out, and nothing was written.
  ///
  /// The closure runs on a thread of the library, where it may block. `tag`: of the stores; nil: the client's.
  @discardableResult @_disfavoredOverload
  public func transaction<Value: Sendable>(
    tag: String? = nil, retries: Int = 100, timeout: Double = 60,
    _ body: @escaping @Sendable (borrowing Transaction) throws -> Value
  ) async throws -> Value {
    try await outcome(tag, retries: retries, timeout: timeout, of: body).get()
  }

  /// The same for a closure that throws nothing else than this library does.
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

  /// What the closure gave or threw; throws what the library failed with.
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
              throw StoreError(.cancelled, "The transaction was given up.")
            }
          })
      } catch {
        guard let thrown else { throw error }
        return .failure(thrown)
      }
    }
  }
}
