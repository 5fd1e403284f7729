internal import KVBase
internal import KVJSON
internal import KVServerCore
internal import KVTransport

/// Makes the calls to a provider, as many at a time as the settings allow. Safe from any thread.
final class ProviderClient: Sendable {
  /// The longest answer: many keys are a fault, or meant to cost memory.
  private static let maxBytes = 128 << 10

  private let seconds: Double
  private let limit: CallLimit
  private let transport: Transport
  private let cancellation = Cancellation()

  /// Fails if the system has no thread or descriptor for it.
  init(_ settings: OpenIDSettings) throws(SettingsReader.Failure) {
    seconds = settings.seconds
    limit = CallLimit(settings.concurrency)
    let options = TransportOptions(
      caFile: settings.caFile, connections: settings.concurrency,
      connectSeconds: settings.seconds)
    do { transport = try Transport(options) } catch { throw SettingsReader.Failure(error.message) }
  }

  func close() {
    limit.close()
    cancellation.cancel()
    transport.close()
  }

  /// The JSON object at an address.
  func document(_ url: String) throws(IdentityFailure) -> JSONValue {
    let answer = try exchange(HTTPRequest("GET", url, maxBytes: Self.maxBytes))
    guard answer.head.isSuccess, let value = try? JSONValue(parsing: answer.body),
      value.objectValue != nil
    else {
      throw .unavailable("\(url) answers \(answer.head.status), or no JSON object")
    }
    return value
  }

  /// Sends a form of which a provider makes tokens. What can be used once is sent once.
  func tokens(
    _ url: String, form: [(String, String)], authorization: String?
  ) throws(IdentityFailure) -> JSONValue {
    var headers = [
      HTTPHeader("Content-Type", "application/x-www-form-urlencoded"),
      HTTPHeader("Accept", "application/json"),
    ]
    if let authorization { headers.append(HTTPHeader("Authorization", authorization)) }
    let answer = try exchange(
      HTTPRequest(
        "POST", url, headers: headers, body: .once(Array(formEncoded(form).utf8)),
        maxBytes: Self.maxBytes))
    let value = try? JSONValue(parsing: answer.body)
    if answer.head.isSuccess, let value, value.objectValue != nil { return value }
    // The server's own mistakes are no fault of the one who logs in.
    if [400, 401].contains(answer.head.status), let code = value?["error"]?.stringValue,
      code.utf8.count <= 64, code != "invalid_client"
    {
      throw .refused("the provider refuses: \(code)")
    }
    throw .unavailable(
      "\(url) answers \(answer.head.status) \(value?["error"]?.stringValue?.prefix(64) ?? "")")
  }

  private func exchange(_ request: HTTPRequest) throws(IdentityFailure) -> HTTPResponse {
    guard limit.enter() else {
      throw .unavailable("\(limit.count) calls to the provider are under way already")
    }
    defer { limit.leave() }
    do {
      return try transport.exchange(
        request, until: .after(seconds: seconds), cancellation: cancellation)
    } catch {
      throw .unavailable("the provider: \(error.message)")
    }
  }
}
