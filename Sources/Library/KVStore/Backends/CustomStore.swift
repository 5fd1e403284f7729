internal import KVCallback
internal import KVClient
internal import KVJSON
internal import KVSync

/// A store that the program implements itself, in place of the library's local database: a file of its own, an existing
/// database, a service. Of its data nothing is kept here.
///
///     struct Fixed: CustomStore {
///       func answer(_ request: BackendRequest) async throws -> BackendAnswer {
///         switch request.operation {
///         case .load: BackendAnswer(json: #"{"type":"fixed","uuid":"fixed-1"}"#)
///         case .fetch: BackendAnswer(json: #"{"records":[{"_id":"a","text":"milk"}]}"#)
///         case .fetchIDs: BackendAnswer(json: #"{"records":[]}"#)
///         default: throw BackendFailure(.forbidden, "Only for reading.")
///         }
///       }
///     }
///
///     try KVStoreClient.registerStore(Fixed(), as: "fixed")
///     defer { try? KVStoreClient.unregisterStore("fixed") }
///     let fixed = try KVStoreClient(Configuration(appKey: "notes", backend: .store("fixed")))
///     await fixed.close()
///
/// `docs/stores.md` describes each request and answer. The requests `.load`, `.fetch`, `.fetchIDs` (the values of ids) and
/// `.save` are required; `.relationship` and `.obtainIDs` may be added to `operations`.
public protocol CustomStore: CustomBackend {}

extension CustomStore {
  /// The required operations.
  public var operations: Set<BackendRequest.Operation> { [.load, .fetch, .fetchIDs, .save] }
}

extension KVStoreClient {
  /// Registers a type of stores in this process, for clients with the configuration `Configuration.Backend.store`.
  ///
  ///     func open(_ bugs: some CustomStore) throws -> KVStoreClient {
  ///       try KVStoreClient.registerStore(bugs, as: "bugs", description: #"{"version":"rev"}"#)
  ///       return try KVStoreClient(Configuration(appKey: "bugs", backend: .store("bugs")))
  ///     }
  ///
  /// `description` is a JSON object with the layout of the records, as for `kv_store_type_register`. Throws `.conflict` if
  /// the name is taken.
  public static func registerStore(
    _ store: some CustomStore, as name: String, description: String? = nil
  ) throws(KVStoreError) {
    guard store.operations.isSuperset(of: [.load, .fetch, .fetchIDs, .save]) else {
      throw KVStoreError(.invalid, "A store must support load, fetch, fetchIDs and save.")
    }
    let object = try JSONObject(options: description)
    try KVStoreError.mapping { () throws(StoreError) in
      let known = try BackendDescription(object)
      try CallbackStore(
        name, known, handler: TaskBackend(store, requestsAtOnce: known.requestsAtOnce)
      ).register()
    }
  }

  /// Announces that records of a registered store were changed otherwise than by the library.
  ///
  ///     func changedByOthers() throws {
  ///       try KVStoreClient.announceChanges(#"[{"collection":"notes","ids":["a"]}]"#, ofStore: "fixed")
  ///     }
  ///
  /// Lists of contexts that are followed fetch again, and objects without unsaved changes are read anew if their version is another
  /// one. `changes` is a JSON array as for `kv_store_type_announce`; nil: any records. It does not wait. Throws `.notFound` if no
  /// store has this name.
  public static func announceChanges(
    _ changes: String? = nil, ofStore name: String
  ) throws(KVStoreError) {
    try KVStoreError.mapping { () throws(StoreError) in
      var list: JSONValue?
      if let changes {
        do throws(JSONError) { list = try JSONValue(parsing: changes) } catch {
          throw StoreError(
            .invalid, "The changes are not valid JSON: \(error.message).", cause: error)
        }
      }
      try CallbackStore.announce(list, of: name)
    }
  }

  /// Removes the name of a type of stores. Open clients keep the store. Throws `.notFound` if no store has this name.
  public static func unregisterStore(_ name: String) throws(KVStoreError) {
    try KVStoreError.mapping { () throws(StoreError) in try CallbackStore.unregister(name) }
  }
}
