import KVServer
import KVServerCore
import KVServerHTTP
import KVStore
import KVTestSupport

/// A real server with one app.
final class Backend: Sendable {
  let directory = TemporaryDirectory()
  let server: Server

  init() throws {
    var configuration = Server.Configuration(data: directory.file("server"))
    configuration.listen = ListenAddress(host: "127.0.0.1", port: 0)
    configuration.apps = [.init(key: "kid_test", secret: "secret", masterSecret: "master")]
    configuration.passwordCost = 1
    configuration.isDurable = false
    // Tests sign up many users from one address, with short passwords, and change them as original SDKs do.
    configuration.passwordLength = 1
    configuration.asksOldPassword = false
    configuration.useLimits.signUpsPerHour = 0
    server = try Server(configuration)
  }

  deinit { server.stop(graceSeconds: 0) }

  var url: String { "http://\(server.address)" }

  /// A client with a data directory of its own.
  func client(_ name: String, url: String? = nil) throws -> KVStoreClient {
    var configuration = Configuration(
      appKey: "kid_test", backend: .host(url ?? self.url, secret: "secret"))
    configuration.dataDirectory = directory.file(name)
    configuration.durability = .normal
    configuration.calls.timeout = 600
    configuration.calls.retries = 0
    return try KVStoreClient(configuration)
  }
}
