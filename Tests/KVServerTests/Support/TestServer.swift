internal import KVJSON
internal import KVServer
internal import KVServerCore
internal import KVServerHTTP
internal import KVTestSupport
import Testing

/// A server of the test's own on a free port, with one app `kid` (secret `sec`, master secret `mas`), and
/// the requests that tests make.
final class TestServer: Sendable {
  let directory: TemporaryDirectory
  let server: Server

  init(
    in directory: TemporaryDirectory? = nil,
    _ configure: (inout Server.Configuration) -> Void = { _ in }
  ) throws {
    let directory = directory ?? TemporaryDirectory()
    var configuration = Server.Configuration(data: directory.path + "/data")
    configuration.listen = ListenAddress(host: "127.0.0.1", port: 0)
    configuration.apps = [.init(key: "kid", secret: "sec", masterSecret: "mas")]
    configuration.passwordCost = 1
    configuration.isDurable = false
    // Tests sign up many users from one address, with short passwords, and change them as original SDKs do.
    configuration.passwordLength = 1
    configuration.asksOldPassword = false
    configuration.allowsInsecureSecrets = true
    configuration.useLimits.signUpsPerHour = 0
    configuration.useLimits.collectionsPerHour = 0
    configuration.storage = try TestStorage.address(for: directory.path)
    configure(&configuration)
    self.directory = directory
    server = try Server(configuration)
  }

  deinit { server.stop(graceSeconds: 1) }

  func stop(graceSeconds: Double = 10) { server.stop(graceSeconds: graceSeconds) }

  var port: UInt16 { server.address.port }

  /// A connection of its own.
  func client() throws -> HTTPClient {
    guard let client = HTTPClient(port: port) else { throw Missing(what: "connection") }
    return client
  }

  /// Sends one request on a connection of its own.
  func send(
    as who: Who, _ method: String, _ target: String, body: String? = nil, version: Int? = 5,
    headers more: [(String, String)] = []
  ) throws -> HTTPAnswer {
    var headers = more
    if let value = who.authorization { headers.append(("Authorization", value)) }
    if let version { headers.append(("X-Kinvey-API-Version", String(version))) }
    let answer = try client().send(
      method, target, headers: headers, body: body.map { Array($0.utf8) })
    guard let answer else { throw Missing(what: "answer to \(method) \(target)") }
    return answer
  }

  /// Signs a user up.
  func user(_ name: String, password: String = "pass") throws -> Who {
    let answer = try send(
      as: .app, "POST", "/user/kid", body: "{\"username\":\"\(name)\",\"password\":\"\(password)\"}"
    )
    guard let id = answer.json["_id"]?.stringValue,
      let token = answer.json["_kmd"]?["authtoken"]?.stringValue
    else { throw Missing(what: "user: \(answer.text)") }
    return .user(id: id, token: token)
  }

  /// Whose credentials a request carries.
  enum Who: Sendable {
    case nobody, app, master
    case user(id: String, token: String)
    case header(String)

    var authorization: String? {
      switch self {
      case .nobody: nil
      case .app: "Basic a2lkOnNlYw=="
      case .master: "Basic a2lkOm1hcw=="
      case .user(_, let token): "Kinvey \(token)"
      case .header(let value): value
      }
    }

    var id: String { if case .user(let id, _) = self { id } else { "" } }
  }

  struct Missing: Error {
    var what: String
  }
}

/// A target with a parameter, escaped.
func target(_ path: String, _ parameters: [(String, String)]) -> String {
  let text = parameters.map { name, value in
    let escaped = value.utf8.map { byte -> String in
      let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
      let hex = String(byte, radix: 16, uppercase: true)
      return isPlain
        ? String(UnicodeScalar(byte)) : "%" + String(repeating: "0", count: 2 - hex.count) + hex
    }
    return name + "=" + escaped.joined()
  }
  return path + "?" + text.joined(separator: "&")
}

func query(_ path: String, _ filter: String) -> String { target(path, [("query", filter)]) }

extension HTTPAnswer {
  /// This answer, which must have that status.
  @discardableResult
  func expect(_ status: Int, _ location: SourceLocation = #_sourceLocation) -> HTTPAnswer {
    #expect(self.status == status, "\(text)", sourceLocation: location)
    return self
  }

  /// The `_id`s of an array of entities.
  var ids: [String] { json.arrayValue?.compactMap { $0["_id"]?.stringValue } ?? [] }
}
