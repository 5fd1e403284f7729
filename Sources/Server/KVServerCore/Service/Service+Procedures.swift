internal import KVBase
internal import KVJSON
internal import KVQuery

/// `/rpc`.
extension Service {
  /// Notes that a user asked for a verification of the address. No mail is sent; the answer does not tell whether there is such a
  /// user.
  func verifyAddress(_ call: AuthenticatedRequest, of name: String) throws(ServerError) -> Response
  {
    // Some clients say the name of the user, some the id.
    var account = try store.accounts.find(name: name, of: call.app.number)
    if account == nil { account = try store.accounts.find(id: name, of: call.app.number) }
    if let account, !account.isDisabled {
      try store.accounts.recordVerification(of: account, app: call.app.number)
    }
    return Response(204)
  }

  /// Removes all entities of a collection, or all users: for administrators. The collection keeps its rules, its history and
  /// its indexes only if that is asked for.
  func removeCollection(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    try call.requireMaster()
    guard Self.isTrue(call, .deleteEntireCollection) else {
      throw ServerError(
        .missingRequestHeader, "\(Header.deleteEntireCollection.name): true is required")
    }
    guard let name = try Self.object(call.body)["collectionName"]?.stringValue else {
      throw ServerError(.incompleteRequestBody, "collectionName is required")
    }
    call.note?.subject = name
    if name.hasSameBytes(as: CollectionName.accounts) { try call.requireScope(.users) }
    let count =
      name.hasSameBytes(as: CollectionName.accounts)
      ? try removeUsers(call) : try removeEntities(of: name, call)
    return Response.json(200, ["count": .int(Int64(count))])
  }

  private func removeUsers(_ call: AuthenticatedRequest) throws(ServerError) -> Int {
    let ids = try store.accounts.ids(of: call.app.number)
    for id in ids { try remove(user: id, permanently: true, call: call) }
    return ids.count
  }

  private func removeEntities(of name: String, _ call: AuthenticatedRequest) throws(ServerError)
    -> Int
  {
    let key = call.collection(name)
    guard CollectionName.fault(in: name) == nil, try store.collections.exists(key) else {
      throw ServerError(.collectionNotFound)
    }
    let keepsSettings = Self.isTrue(call, .retainMetadata)
    if !keepsSettings { try removeIndexes(of: key, call) }
    let count = try store.entities.delete(
      Query(), in: key, for: call.claim, within: call.budget)
    guard !keepsSettings else { return count }
    try store.collections.set(nil, of: key)
    try store.collections.set(historyDays: nil, of: key)
    return count
  }

  private func removeIndexes(
    of key: CollectionKey, _ call: AuthenticatedRequest
  ) throws(ServerError) {
    let indexes = try store.indexes.indexes(of: key)
    for index in indexes { _ = try store.indexes.remove(index.spec.name, from: key) }
    if !indexes.isEmpty { indexBuilder.work(within: call.budget) }
  }

  private static func isTrue(_ call: AuthenticatedRequest, _ header: Header) -> Bool {
    call.request.headers[header]?.lowercased() == "true"
  }
}
