internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Lets others read or write an entity, in addition to those who may: docs/sharing.md. Throws `.notFound` if there is none
  /// of this id. What somebody else changes in it meanwhile is not lost: the write is sent on a condition.
  ///
  ///     try await people.share(id: "ann", with: Sharing(readers: ["bob"]))
  public func share(
    id: String, with others: Sharing, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    try await share(id, others, options: options) { $0.giving }
  }

  /// Takes back what `share` gave. Who is named more than once, or is in a group, is to be taken out of each.
  ///
  ///     try await people.unshare(id: "ann", from: .everybodyReads)
  public func unshare(
    id: String, from others: Sharing, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    try await share(id, others, options: options) { $0.taking }
  }

  private func share(
    _ id: String, _ others: Sharing, options: CallOptions,
    update: (KVClient.Sharing) -> JSONValue
  ) async throws(KVStoreError) {
    let rights = try KVStoreError.mapping { () throws(StoreError) in
      try KVClient.Sharing(others.acl)
    }
    let change = update(rights)
    _ = try await writing(options) { (core, run) throws(StoreError) in
      try core.share(id, change, run: run).value.matched
    }
  }
}
