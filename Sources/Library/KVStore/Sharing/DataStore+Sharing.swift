internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Grants users and groups the right to read or write an entity, in addition to the rights that exist:
  /// docs/sharing.md. The write is conditional, so that other changes of the access list at the same time are kept.
  /// Throws `.notFound` if no entity has this id.
  ///
  ///     try await people.share(id: "ann", with: Sharing(readers: ["bob"]))
  public func share(
    id: String, with others: Sharing, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    try await share(id, others, options: options) { $0.giving }
  }

  /// Revokes rights that `share` granted. A user may have the same right by name and through groups; each has to be
  /// revoked.
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
