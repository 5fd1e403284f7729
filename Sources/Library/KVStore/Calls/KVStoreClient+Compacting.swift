internal import KVBase
internal import KVClient
internal import KVSync

extension KVStoreClient {
  /// Returns unused disk space to the system, in the files of all tags that the client has opened stores of.
  ///
  ///     let sizes = try await client.compact()
  ///     print("\(sizes.before - sizes.after) bytes less")
  ///
  /// The files are rewritten, which needs space for a copy. Reads continue meanwhile. While a sequence of entities, a
  /// transaction or another process reads an older state, the call waits. It throws `.busy` after the time limit in
  /// `options`. Cancelling the task cancels the call.
  @discardableResult
  public func compact(
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> CompactionResult {
    let report = try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.compact(options, cancellation)
    }
    return CompactionResult(before: Int(report.before), after: Int(report.after))
  }
}

/// The result of `KVStoreClient.compact`: the sizes in bytes of the files and logs of the local data.
///
///     let sizes = try await client.compact()
///     print("from", sizes.before, "to", sizes.after)
public struct CompactionResult: Sendable, Equatable {
  /// The size before.
  public let before: Int
  /// The size afterwards.
  public let after: Int
}
