import KVStore
import KVTestSupport
import Testing

@Suite struct LoginPageTests {
  /// An authorization server and a backend that know one code.
  private static func reply(to request: ScriptedRequest) -> ScriptedReply {
    switch request.target.split(separator: "?").first {
    case "/v3/oauth/token":
      guard request.text.contains("code=good&") else {
        return ScriptedReply(400, #"{"error":"invalid_grant"}"#)
      }
      return ScriptedReply(
        200, #"{"access_token":"a","refresh_token":"r","token_type":"Bearer","expires_in":3599}"#)
    case "/user/kid_test/login":
      return ScriptedReply(
        200, #"{"_id":"u1","username":"ann","_kmd":{"authtoken":"t"}}"#)
    default: return ScriptedReply(404, "{}")
    }
  }

  private func client(
    _ server: ScriptedServer, _ directory: TemporaryDirectory
  ) throws -> KVStoreClient {
    var configuration = Configuration(
      appKey: "kid_test", backend: .host(server.url, secret: "secret"))
    configuration.dataDirectory = directory.path
    configuration.calls.retries = 0
    configuration.otherOptions = #"{"authHost":"\#(server.url)"}"#
    return try KVStoreClient(configuration)
  }

  @Test("The page is the authorization server's, and the code that comes back logs in")
  func login() async throws {
    let server = try ScriptedServer(replying: Self.reply)
    defer { server.stop() }
    let directory = TemporaryDirectory()
    let client = try client(server, directory)
    let page = try client.loginPage(redirectURI: "notes://login?x=1", state: "s t")
    #expect(page.hasPrefix("\(server.url)/v3/oauth/auth?"))
    #expect(page.contains("redirect_uri=notes%3A%2F%2Flogin%3Fx%3D1"))
    #expect(page.contains("state=s%20t") || page.contains("state=s+t"))
    let other = try client.loginPage(redirectURI: "notes://login", clientID: "web")
    #expect(other.contains("client_id=web&") && !other.contains("state="))

    let error = await #expect(throws: KVStoreError.self) {
      try await client.login(code: "bad", redirectURI: "notes://login")
    }
    #expect(error?.code == .unauthorized)
    #expect(try await client.currentUser() == nil)
    let user = try await client.login(code: "good", redirectURI: "notes://login")
    #expect(user.id == "u1" && user.username == "ann")
    #expect(try await client.currentUser()?.id == "u1")
    await client.close()
  }

  @Test("A client without a backend has no login page")
  func local() async throws {
    let local = try Local()
    let error = #expect(throws: KVStoreError.self) {
      try local.client.loginPage(redirectURI: "notes://login")
    }
    #expect(error?.code == .unsupported)
  }
}
