import KVBase
import KVStore
import KVTestSupport
import Testing

/// Against a GraphQL endpoint that takes one token only; `Tests/AppSync/test_tokens.py` has the rest.
@Suite("A token provider") struct TokenProviderTests {
  private struct Task: Codable, Sendable {
    var id: String?
    var title: String
  }

  private static let page =
    #"{"data":{"syncTasks":{"items":[{"id":"a","title":"Tea","_version":1}],"nextToken":null,"startedAt":1}}}"#
  private static let denial =
    #"{"errors":[{"errorType":"UnauthorizedException","message":"Token has expired."}]}"#

  private let directory = TemporaryDirectory()

  private func tasks(_ server: ScriptedServer) throws -> (KVStoreClient, DataStore<Task>) {
    var configuration = Configuration(appKey: "kid_test", backend: .none)
    configuration.dataDirectory = directory.path
    configuration.schema = "type Task @model { id: ID! title: String! }"
    configuration.otherOptions =
      #"{"backend":"appsync","endpoint":"\#(server.url)/graphql","auth":{"userPools":null},"live":false}"#
    configuration.calls.retries = 0
    let client = try KVStoreClient(configuration)
    return (client, try client.store("Task", of: Task.self))
  }

  @Test("is asked again when its token is refused, and its errors are those of the call")
  func provider() async throws {
    let server = try ScriptedServer { request, connection in
      let isAllowed = request["Authorization"] == "new"
      connection.send(
        ScriptedReply(isAllowed ? 200 : 401, isAllowed ? Self.page : Self.denial))
    }
    defer { server.stop() }
    let (client, tasks) = try tasks(server)
    let asked = Monitor<[TokenRequest]>([])
    try client.setTokenProvider { request in
      asked.withLock { $0.append(request) }
      return request.isRefused ? "new" : "old"
    }
    try await tasks.pull()
    #expect(try await tasks.find().all().map(\.title) == ["Tea"])
    let requests = asked.withLock { $0 }
    #expect(requests.map(\.provider) == ["userPools", "userPools"])
    #expect(requests.map(\.isRefused) == [false, true])
    #expect(requests.map(\.former) == [nil, "old"])
  }

  @Test("that gives no token ends the call with its reason")
  func failures() async throws {
    let server = try ScriptedServer { _, connection in
      connection.send(ScriptedReply(401, Self.denial))
    }
    defer { server.stop() }
    let (client, tasks) = try tasks(server)
    for (failure, code) in [
      (TokenFailure.notSignedIn, KVStoreError.Code.noUser), (.unreachable, .network),
    ] {
      try client.setTokenProvider { _ in throw failure }
      let error = await #expect(throws: KVStoreError.self) { try await tasks.pull() }
      #expect(error?.code == code)
    }
    try client.setTokenProvider(nil)
    await #expect(throws: KVStoreError.self) { try await tasks.pull() }
  }
}
