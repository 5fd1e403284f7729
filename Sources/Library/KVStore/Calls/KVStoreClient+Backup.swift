internal import KVBase
internal import KVClient
internal import KVSync

extension KVStoreClient {
  /// Copies the local data of all tags into a directory, as it is at one moment, while it is used.
  ///
  ///     let backup = try await client.backUp(to: "/backup/2026-11-28")
  ///     print(backup.tags, backup.bytes)
  ///
  /// The copy can be opened as a data directory. It has no sessions: the user whose data it is logs in there. It appears when it
  /// is complete. If the directory has data of this application, the call throws `.conflict`. Cancelling the task cancels the call.
  @discardableResult
  public func backUp(
    to directory: String, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> BackupResult {
    let report = try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.backUp(into: directory, options, cancellation)
    }
    return BackupResult(tags: report.tags, bytes: Int(report.bytes))
  }
}

/// The result of `KVStoreClient.backUp`.
///
///     let backup = try await client.backUp(to: "/backup/today")
///     print(backup.bytes, "bytes of", backup.tags.joined(separator: ", "))
public struct BackupResult: Sendable, Equatable {
  /// The tags whose data was copied.
  public let tags: [String]
  /// The size of their files.
  public let bytes: Int
}
