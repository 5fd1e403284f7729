internal import Glibc
internal import KVBase
internal import KVJSON
internal import KVSync
internal import KVTransport

/// The headers that all requests of one operation have.
struct KinveyHeaders: Sendable {
  /// The limit of the hosted service, in bytes of JSON.
  private static let maxPropertiesBytes = 2000

  private let common: [HTTPHeader]
  /// What must not come back in an error's text.
  let secrets: [String]

  /// Fails with `invalid` for custom request properties that are no object, or too long.
  init(
    _ configuration: KinveyConfiguration, deviceInfo: String, credentials: KinveyCredentials,
    _ call: Call
  ) throws(StoreError) {
    var headers = [
      HTTPHeader("Authorization", credentials.header),
      HTTPHeader("Accept", "application/json"),
      HTTPHeader("User-Agent", "libkvstore/\(configuration.version)"),
      HTTPHeader("X-Kinvey-API-Version", String(configuration.apiVersion)),
      HTTPHeader("X-Kinvey-Device-Info", deviceInfo),
    ]
    if let version = call.clientAppVersion ?? configuration.clientAppVersion {
      headers.append(HTTPHeader("X-Kinvey-Client-App-Version", version))
    }
    if let text = call.customRequestProperties ?? configuration.customRequestProperties {
      headers.append(
        HTTPHeader("X-Kinvey-Custom-Request-Properties", try Self.properties(text)))
    }
    common = headers
    secrets = credentials.secrets
  }

  /// The headers of one request, under an id of its own.
  func request(hasBody: Bool) -> [HTTPHeader] {
    var headers = common + [HTTPHeader("X-Kinvey-Request-Id", Identifier.request())]
    if hasBody { headers.append(HTTPHeader("Content-Type", "application/json; charset=utf-8")) }
    return headers
  }

  // MARK: Values

  private static func properties(_ text: String) throws(StoreError) -> String {
    guard let object = try JSONValue.ifValid(text)?.objectValue else {
      throw StoreError(.invalid, "customRequestProperties must be a JSON object.")
    }
    let compact = asciiJSON(object.text)
    guard compact.utf8.count < maxPropertiesBytes else {
      throw StoreError(
        .invalid, "customRequestProperties must have fewer than \(maxPropertiesBytes) bytes.")
    }
    return compact
  }

  /// JSON text with everything but ASCII as `\u` escapes: fit for a header.
  private static func asciiJSON(_ text: String) -> String {
    var out = ""
    for unit in text.utf16 {
      if unit < 0x7F, let scalar = Unicode.Scalar(unit) {
        out.unicodeScalars.append(scalar)
      } else {
        let digits = String(unit, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return out
  }

  /// A description of the machine and of this library, as JSON; the same for all requests. The member `dn`, a name, is known to our
  /// server alone.
  static func deviceInfo(_ configuration: KinveyConfiguration) -> String {
    var info: JSONObject = [
      "hv": 1, "md": .string(machine.model), "os": .string(machine.system),
      "ov": .string(machine.release), "sdk": "libkvstore", "pv": .string(configuration.version),
    ]
    info["dn"] = configuration.deviceName.map { .string($0) }
    return asciiJSON(info.text)
  }

  private static let machine: (system: String, release: String, model: String) = {
    var name = utsname()
    uname(&name)
    return (text(of: name.sysname), text(of: name.release), text(of: name.machine))
  }()

  /// The text in a C array, which Swift sees as a tuple.
  private static func text<Characters>(of characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// What a request proves with who sends it.
enum KinveyCredentials: Sendable {
  case session(token: String)
  case basic(user: String, secret: String)

  var header: String {
    switch self {
    case .session(let token): "Kinvey \(token)"
    case .basic(let user, let secret): "Basic \(Self.encoded(user, secret))"
    }
  }

  /// What would let a reader do as we do.
  var secrets: [String] {
    switch self {
    case .session(let token): [token]
    case .basic(let user, let secret): [secret, Self.encoded(user, secret)]
    }
  }

  private static func encoded(_ user: String, _ secret: String) -> String {
    Base64.encode("\(user):\(secret)")
  }
}
