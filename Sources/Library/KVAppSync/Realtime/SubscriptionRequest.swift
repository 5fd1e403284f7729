internal import KVJSON
internal import KVModels

/// What is asked of an API to be told of one kind of change.
struct SubscriptionRequest {
  let documents: ModelDocuments
  let operation: ModelOperation

  /// For every record that may be read.
  func body() -> [UInt8] { body(documents.subscription(operation), [:]) }

  /// For the records of the caller whose token has these claims; nil: the rules of a mode do not tell records by their owner.
  func body(as mode: AuthorizationMode, claims: JSONValue) -> [UInt8]? {
    guard let ownership = documents.model.ownership(of: operation, in: mode),
      let owner = ownership.owner(in: claims)
    else { return nil }
    return body(
      documents.subscription(operation, ownerField: ownership.field), ["owner": .string(owner)])
  }

  private func body(_ document: String, _ variables: JSONObject) -> [UInt8] {
    JSONValue.object(["query": .string(document), "variables": .object(variables)]).bytes
  }
}
