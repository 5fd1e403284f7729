internal import KVBase
internal import KVClient
internal import KVSync

extension KVStoreClient {
  /// Gives back the disk space that local data no longer needs, in the files of all tags of which stores were opened:
  ///
  ///     let sizes = try await client.compact()
  ///     print("\(sizes.before - sizes.after) bytes less")
  ///
  /// The files are written anew, which needs room for a copy; reading goes on meanwhile. While a sequence of entities, a transaction or
  /// another process reads an older state it waits, and throws `.busy` after the time of `options`. Cancelling the task ends it.
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

/// What came of `KVStoreClient.compact`: bytes of the files of the local data, with their logs.
///
///     let sizes = try await client.compact()
///     print("from", sizes.before, "to", sizes.after)
public struct CompactionResult: Sendable, Equatable {
  /// How many there were.
  public let before: Int
  /// How many there are.
  public let after: Int
}
