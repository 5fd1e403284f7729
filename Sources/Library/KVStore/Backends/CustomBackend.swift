internal import KVCallback
internal import KVClient
internal import KVJSON
internal import KVSync

/// A backend that the program implements itself, for clients that are opened with `.custom`. It reads and writes
/// records of any service, database or directory of files. Clients have the same functions as with any other backend:
/// pending writes, conflicts, observers, deltas and pages.
///
///     struct Mirror: CustomBackend {
///       let notes = ["a": #"{"_id":"a","text":"milk"}"#]
///
///       func answer(_ request: BackendRequest) async throws -> BackendAnswer {
///         struct IDs: Decodable { var ids: [String] }
///         switch request.operation {
///         case .fetch:
///           return BackendAnswer(json: "{\"records\":[\(notes.values.joined(separator: ","))]}")
///         case .fetchIDs:
///           let found = try request.decoded(as: IDs.self).ids.compactMap { notes[$0] }
///           return BackendAnswer(json: "{\"records\":[\(found.joined(separator: ","))]}")
///         default: throw BackendFailure(.forbidden, "Only for reading.")
///         }
///       }
///     }
///
///     try KVStoreClient.register(Mirror(), as: "mirror")
///     defer { try? KVStoreClient.unregister("mirror") }
///     let mirrored = try KVStoreClient(Configuration(appKey: "notes", backend: .custom("mirror")))
///     await mirrored.close()
///
/// `docs/backends.md` describes each request and answer. Requests run in tasks of their own, several at the same time.
/// A task is cancelled when its answer has no waiter any more.
public protocol CustomBackend: Sendable {
  /// The operations that the backend supports. `.fetch`, `.fetchIDs` and `.write` are required, and are the default.
  var operations: Set<BackendRequest.Operation> { get }

  /// Carries out a request. If it throws a `BackendFailure`, the request fails with its code. Any other error means
  /// that the backend cannot carry out the request at present.
  func answer(_ request: BackendRequest) async throws -> BackendAnswer
}

extension CustomBackend {
  /// The required operations.
  public var operations: Set<BackendRequest.Operation> { [.fetch, .fetchIDs, .write] }
}

extension KVStoreClient {
  /// Registers a backend in this process, for clients with the configuration `Configuration.Backend.custom`.
  ///
  ///     func open(_ files: some CustomBackend) throws -> KVStoreClient {
  ///       try KVStoreClient.register(files, as: "files", description: #"{"pageSize":100}"#)
  ///       return try KVStoreClient(Configuration(appKey: "notes", backend: .custom("files")))
  ///     }
  ///
  /// `description` is a JSON object with the layout of the records and the abilities of the backend, as for
  /// `kv_backend_register`. Throws `.conflict` if the name is taken.
  public static func register(
    _ backend: some CustomBackend, as name: String, description: String? = nil
  ) throws(KVStoreError) {
    guard backend.operations.isSuperset(of: [.fetch, .fetchIDs, .write]) else {
      throw KVStoreError(.invalid, "A backend must support fetch, fetchIDs and write.")
    }
    let object = try JSONObject(options: description)
    try KVStoreError.mapping { () throws(StoreError) in
      let known = try BackendDescription(object)
      let host = CallbackBackend(
        name, known, handler: TaskBackend(backend, requestsAtOnce: known.requestsAtOnce))
      try BackendRegistry.shared.register(name) { _ in host.opened }
    }
  }

  /// Removes a backend's name. Open clients keep the backend. Throws `.notFound` if no backend has this name.
  public static func unregister(_ name: String) throws(KVStoreError) {
    guard BackendRegistry.shared.unregister(name) else {
      throw KVStoreError(.notFound, "No backend is registered as \"\(name)\".")
    }
  }
}
