import KVBase
import KVJSON
import KVQuery
import KVServer
import KVServerCore
import KVServerHTTP
import KVSync
import KVTestSupport
import KVTransport

@testable import KVClient

/// A real server with one app, which can be stopped and started again on its port and its data.
final class World: @unchecked Sendable {
  // Sendable because tests use it from one thread at a time.
  static let app = Server.Configuration.App(
    key: "kid_test", secret: "secret", masterSecret: "master")

  let directory = TemporaryDirectory()
  private(set) var server: Server?
  private let port: ReservedPort

  /// For how long the server keeps deletions, from its next start on.
  var historyDays: Int?

  /// `historyDays`: for how long the server keeps deletions.
  init(historyDays: Int? = nil) throws {
    self.historyDays = historyDays
    port = try ReservedPort()
    try start()
  }

  deinit { stop() }

  var url: String { "http://127.0.0.1:\(port.number)" }

  func start() throws {
    var configuration = Server.Configuration(data: data)
    configuration.listen = ListenAddress(host: "127.0.0.1", port: port.number)
    configuration.apps = [Self.app]
    configuration.passwordCost = 1
    configuration.isDurable = false
    // Tests sign up many users from one address, with short passwords, and change them as original SDKs do.
    configuration.passwordLength = 1
    configuration.asksOldPassword = false
    configuration.useLimits.signUpsPerHour = 0
    configuration.historyDays = historyDays
    server = try Server(configuration)
  }

  func stop() {
    server?.stop(graceSeconds: 0)
    server = nil
  }

  private var data: String { directory.file("server") }

  /// Stops the server for a copy of its data.
  func copy() throws {
    stop()
    copyFiles(of: data, to: directory.file("copy"))
    try start()
  }

  /// Stops the server and starts it with the last copy.
  func putBack(intoTheSameFiles: Bool = false) throws {
    stop()
    if !intoTheSameFiles { TemporaryDirectory.remove(data) }
    copyFiles(of: directory.file("copy"), to: data)
    try start()
  }

  /// A client with its own data directory, or with one that another client had.
  func client(
    _ name: String = "client", _ more: JSONObject = [:], pushes: AutoPush.Schedule = .init()
  ) throws -> Client {
    var options: JSONObject = [
      "appKey": "kid_test", "appSecret": "secret", "host": .string(url),
      "dataDirectory": .string(directory.file(name)), "timeout": 300, "durability": "normal",
      "retries": 0,
    ]
    for member in more.members { options[member.name] = member.value }
    return try Client(options, pushes: pushes)
  }

  /// A client that may do everything, without a user.
  func administrator() throws -> Client { try client("administrator", ["masterSecret": "master"]) }

  /// A request with the master secret, which must succeed.
  @discardableResult
  func administer(_ method: String, _ path: String, body: JSONValue? = nil) throws -> JSONValue {
    let transport = try Transport()
    defer { transport.close() }
    let secret = Base64.encode("\(Self.app.key):\(Self.app.masterSecret ?? "")")
    let answer = try transport.exchange(
      HTTPRequest(
        method, url + path,
        headers: [
          HTTPHeader("Authorization", "Basic \(secret)"), HTTPHeader("X-Kinvey-API-Version", "5"),
        ],
        body: body.map { .bytes($0.bytes) }, maxBytes: 1 << 20),
      until: .after(seconds: 60), cancellation: Cancellation())
    guard answer.head.isSuccess else {
      throw StoreError(.internal, String(decoding: answer.body, as: UTF8.self))
    }
    return answer.body.isEmpty ? .null : try JSONValue(parsing: answer.body)
  }

  /// A client whose user is logged in.
  func member(
    _ name: String = "client", _ more: JSONObject = [:], pushes: AutoPush.Schedule = .init()
  ) throws -> Client {
    let client = try client(name, more, pushes: pushes)
    let user: JSONObject = ["username": .string(name), "password": "pw"]
    do throws(StoreError) {
      _ = try client.signup(user, options: Options(), cancellation: Cancellation())
    } catch {
      _ = try client.login(user, options: Options(), cancellation: Cancellation())
    }
    return client
  }
}

extension DataStore {
  func save(_ entity: JSONValue, _ run: Run = Run()) throws -> JSONValue {
    let saved = try entity.bytes.withUnsafeBytes { bytes in try save(bytes, run).value }
    return try JSONValue(parsing: saved)
  }

  func saveMany(_ entities: [JSONValue], _ run: Run = Run()) throws -> SaveManyResult {
    try JSONValue.array(entities).bytes.withUnsafeBytes { try saveMany($0, run).value }
  }

  func all(_ query: Query = Query(), _ run: Run = Run()) throws -> [JSONValue] {
    let cursor = try find(query, run).value
    defer { cursor.close() }
    var found: [JSONValue] = []
    while let bytes = try cursor.next({ Array($0) }) { found.append(try JSONValue(parsing: bytes)) }
    return found
  }
}

/// What an operation fails with; nil if it succeeds.
func failure(_ body: () throws -> Void) -> StoreError? {
  do {
    try body()
    return nil
  } catch {
    return error as? StoreError
  }
}
