internal import KVCallback
internal import KVClient
internal import KVJSON
internal import KVSync

/// A backend of the program's own: what reads and writes records for clients that are opened with `.custom`, such as a service that
/// the library does not know, a database or a directory of files. Clients have with it what they have with any other backend:
/// pending writes, conflicts, observers, changes, pages.
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
/// What each request and answer is says `docs/backends.md`. Requests run in tasks of their own, several at the same time. A task is
/// cancelled when nobody waits for its answer any more.
public protocol CustomBackend: Sendable {
  /// What it can do. `.fetch`, `.fetchIDs` and `.write` have to be there, which is what it can do if it does not say so.
  var operations: Set<BackendRequest.Operation> { get }

  /// Carries out a request. What it throws fails the request: a `BackendFailure` says how, and anything else that the backend
  /// cannot do it now.
  func answer(_ request: BackendRequest) async throws -> BackendAnswer
}

extension CustomBackend {
  public var operations: Set<BackendRequest.Operation> { [.fetch, .fetchIDs, .write] }
}

extension KVStoreClient {
  /// Registers a backend in this process, so that clients can be opened with it: `Configuration.Backend.custom`.
  ///
  ///     func open(_ files: some CustomBackend) throws -> KVStoreClient {
  ///       try KVStoreClient.register(files, as: "files", description: #"{"pageSize":100}"#)
  ///       return try KVStoreClient(Configuration(appKey: "notes", backend: .custom("files")))
  ///     }
  ///
  /// `description`: a JSON object that says how its records are laid out and what it can do, as for `kv_backend_register`. Throws
  /// `.conflict` if the name is taken.
  public static func register(
    _ backend: some CustomBackend, as name: String, description: String? = nil
  ) throws(KVStoreError) {
    guard backend.operations.isSuperset(of: [.fetch, .fetchIDs, .write]) else {
      throw KVStoreError(.invalid, "A backend has at least fetch, fetchIDs and write.")
    }
    let object = try JSONObject(options: description)
    try KVStoreError.mapping { () throws(StoreError) in
      let known = try BackendDescription(object)
      let host = CallbackBackend(
        name, known, handler: TaskBackend(backend, requestsAtOnce: known.requestsAtOnce))
      try BackendRegistry.register(name) { _ in host.opened }
    }
  }

  /// Takes a backend out of the register. Clients that were opened with it go on. Throws `.notFound` if there is none of this name.
  public static func unregister(_ name: String) throws(KVStoreError) {
    guard BackendRegistry.unregister(name) else {
      throw KVStoreError(.notFound, "No backend is registered as \"\(name)\".")
    }
  }
}
