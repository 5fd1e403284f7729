import KVHTTP
import KVSync
import KVTestSupport
import KVTransport
import Testing

@testable import KVKinvey

@Suite("What the backend's errors mean") struct KinveyErrorsTests {
  private typealias Row = (status: Int, codes: [String], kind: StoreError.Kind)

  /// The catalogue of the protocol, row by row.
  private static let catalogue: [Row] = [
    (
      400,
      [
        "ParameterValueOutOfRange", "InvalidQuerySyntax", "MissingQuery", "JSONParseError",
        "MissingRequestHeader", "IncompleteRequestBody", "MissingRequestParameter",
        "InvalidIdentifier", "BadRequest", "InputValidationFailed",
      ], .invalid
    ),
    (400, ["FeatureUnavailable", "CORSDisabled", "APIVersionNotAvailable"], .unsupported),
    (400, ["BLRuntimeError"], .server),
    (400, ["ResultSetSizeExceeded"], .tooLarge),
    (401, ["InvalidCredentials"], .unauthorized),
    (401, ["InsufficientCredentials"], .forbidden),
    (403, ["WritesToCollectionDisallowed", "IndirectCollectionAccessDisallowed"], .forbidden),
    (403, ["AppProblem"], .server),
    (403, ["MissingConfiguration"], .unsupported),
    (
      404,
      [
        "EntityNotFound", "CollectionNotFound", "AppNotFound", "UserNotFound", "BlobNotFound",
        "DataLinkEntityNotFound",
      ], .notFound
    ),
    (405, ["MethodNotAllowed"], .unsupported),
    (409, ["UserAlreadyExists", "StaleRequest"], .conflict),
    (500, ["KinveyInternalErrorRetry", "KinveyInternalErrorStop"], .server),
    (500, ["DuplicateEndUsers"], .conflict),
    (501, ["APIVersionNotImplemented"], .unsupported),
    (550, ["BLSyntaxError", "BLTimeoutError", "BLViolationError", "BLInternalError"], .server),
    // Codes that the catalogue does not have.
    (400, ["New"], .invalid), (401, ["New"], .unauthorized), (403, ["New"], .forbidden),
    (404, ["New"], .notFound), (409, ["New"], .conflict), (413, ["New"], .tooLarge),
    (429, ["New"], .server), (500, ["New"], .server), (503, ["New"], .server),
  ]

  @Test("Each code of the catalogue has its kind, and keeps the backend's words")
  func codes() throws {
    let cases = Self.catalogue.flatMap { row in row.codes.map { (row.status, $0, row.kind) } }
    try withBackend { request in
      let index = Int(request.target.split(separator: "/").last ?? "") ?? 0
      return ScriptedReply(
        cases[index].0, headers: [("X-Kinvey-Request-Id", "r1"), ("Retry-After", "3")],
        #"{"error":"\#(cases[index].1)","description":"what","debug":"why"}"#)
    } run: { backend throws in
      for (index, (status, code, kind)) in cases.enumerated() {
        let error = backend.remote.outcome(.update(id: "\(index)", bytes("{}")))?.failure
        #expect(error?.kind == kind, "\(status) \(code)")
        #expect(
          error?.answer
            == StoreError.ServerAnswer(
              status: status, error: code, description: "what", debug: "why", requestId: "r1",
              retryAfter: 3))
        #expect(error?.isOffline == false)
      }
    }
  }

  @Test(
    "What another attempt may come to is said with it, and whether nothing was done",
    arguments: [
      (429, "New", FailureClass.passing, true), (502, "New", .passing, false),
      (503, "New", .passing, false), (504, "New", .passing, false),
      (500, "KinveyInternalErrorRetry", .passing, false),
      (500, "KinveyInternalErrorStop", .unknown, false), (550, "BLRuntimeError", .unknown, false),
      (400, "BLRuntimeError", .unknown, true), (400, "BadRequest", .refused, true),
      (403, "WritesToCollectionDisallowed", .refused, true), (413, "New", .refused, true),
      (404, "EntityNotFound", .refused, true), (404, "AppNotFound", .unknown, true),
      (404, "UserNotFound", .unknown, true), (409, "StaleRequest", .conflict, true),
      (500, "DuplicateEndUsers", .conflict, false), (401, "InvalidCredentials", .sessionOver, true),
      (405, "MethodNotAllowed", .unknown, true),
    ])
  func classes(
    _ status: Int, code: String, failureClass: FailureClass, changedNothing: Bool
  ) throws {
    try withBackend { _ in
      ScriptedReply(status, #"{"error":"\#(code)","description":"what","debug":"why"}"#)
    } run: { backend throws in
      let error = backend.remote.outcome(.update(id: "1", bytes("{}")))?.failure
      #expect(error?.failureClass == failureClass)
      #expect(error?.changedNothing == changedNothing)
    }
  }

  @Test("Who is in between may be busy, and refuses nothing but what is too large")
  func classesOfStrangers() throws {
    for (status, failureClass) in [
      (502, FailureClass.passing), (429, .passing), (413, .refused), (404, .unknown),
      (403, .unknown), (500, .unknown),
    ] {
      try withBackend { _ in
        ScriptedReply(status, "<html>nginx</html>")
      } run: { backend throws in
        let error = backend.remote.outcome(.update(id: "1", bytes("{}")))?.failure
        #expect(error?.failureClass == failureClass, "\(status)")
        #expect(error?.changedNothing == false, "\(status)")
      }
    }
  }

  @Test(
    "A taken _id is a conflict, whichever way the backend says it",
    arguments: [
      #""description":"d","debug":"An entity with that _id already exists in this collection""#,
      #""description":"Duplicate _id","debug":"""#,
      #""description":"","debug":"E11000 duplicate key error collection: x.notes index: _id_""#,
    ])
  func duplicate(words: String) throws {
    try withBackend { _ in
      ScriptedReply(500, #"{"error":"KinveyInternalErrorRetry",\#(words)}"#)
    } run: { backend in
      let error = backend.remote.outcome(.create(bytes(#"{"_id":"a"}"#)))?.failure
      #expect(error?.kind == .conflict)
    }
  }

  @Test(
    "What is no error of the backend is not mistaken for one, nor for being offline",
    arguments: [
      (301, "", .proto), (401, "<html>Log in to the airport</html>", .proto),
      (403, #"{"message":"Forbidden"}"#, .proto), (404, "<html>nginx</html>", .proto),
      (404, #"{"error":"EntityNotFou"#, .proto), (404, #"{"error":5}"#, .proto),
      (404, "[]", .proto), (413, "<html>", .tooLarge), (414, "", .tooLarge),
      (500, "<html>", .server), (502, "", .server), (503, #"{"error":"#, .server),
      (200, "<html>Welcome to the airport</html>", .proto), (200, #"{"_id":"#, .proto),
    ] as [(Int, String, StoreError.Kind)])
  func strangers(status: Int, body: String, kind: StoreError.Kind) throws {
    try withBackend { _ in
      ScriptedReply(status, body)
    } run: { backend in
      let error = backend.remote.outcome(.update(id: "a", bytes("{}")))?.failure
      #expect(error?.kind == kind)
      #expect(error?.answer?.status == status)
      #expect(error?.isOffline == false)
      #expect(error?.message.contains("airport") == false)
    }
  }

  @Test("A backend that repeats our secrets does not get them into the error")
  func secrets() throws {
    try withBackend(token: "s3cr3t") { request in
      ScriptedReply(
        400,
        #"{"error":"BadRequest","description":"got \#(request["Authorization"] ?? "")!","debug":"s3cr3t"}"#
      )
    } run: { backend in
      let error = backend.remote.outcome(.delete(id: "a"))?.failure
      #expect(error?.answer?.description == "got Kinvey …!")
      #expect(error?.answer?.debug == "…")
      #expect(error?.json.contains("s3cr3t") == false)
      let ping = failure { () throws(StoreError) in try backend.users.ping(Call()) }
      #expect(ping?.json.contains("a2lkX3gxOnNlYw") == false)
    }
  }

  @Test("A secret that is an ordinary word takes no words out of the error")
  func words() throws {
    try withBackend(token: "secret") { request in
      ScriptedReply(
        400,
        #"{"error":"BadRequest","description":"the secret is \#(request["Authorization"] ?? "")","debug":"no secrets"}"#
      )
    } run: { backend in
      let error = backend.remote.outcome(.delete(id: "a"))?.failure
      #expect(error?.answer?.description?.hasPrefix("the secret is ") == true)
      #expect(error?.answer?.debug == "no secrets")
    }
  }

  @Test("Without an answer the kind says what went wrong")
  func transport() {
    let kinds: [(TransportError.Kind, StoreError.Kind)] = [
      (.resolve, .network), (.connect, .network), (.tls, .network), (.reset, .network),
      (.certificate, .certificate),
      (.timeout, .timeout), (.cancelled, .cancelled), (.tooLarge, .tooLarge),
      (.malformed, .proto), (.notUpgraded, .proto), (.invalid, .invalid), (.forked, .misuse),
      (.resources, .storage),
    ]
    #expect(kinds.count == TransportError.Kind.allCases.count)
    for (kind, expected) in kinds {
      let error = StoreError(TransportError(kind, "text", code: 7))
      #expect(error.kind == expected)
      #expect(error.code == 7)
      #expect(error.message == "text")
    }
  }

  @Test("A backend that is not there, or says nothing, is offline")
  func offline() throws {
    try withScript { _, connection in
      connection.reset()
    } run: { backend in
      let error = failure { () throws(StoreError) in try backend.remote.read() }
      #expect(error?.kind == .network)
      #expect(error?.isOffline == true)
      #expect(error?.answer == nil)
    }
  }
}
