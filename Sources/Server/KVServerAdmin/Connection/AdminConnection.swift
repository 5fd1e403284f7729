internal import KVBase
internal import KVJSON
internal import KVServerCore

/// One request to a server, in its own protocol.
package struct AdminRequest: Sendable {
  package var method: String
  /// Not escaped.
  package var path: [String]
  package var parameters: [(name: String, value: String)] = []
  package var headers: [(name: String, value: String)] = []
  package var body: [UInt8]?

  /// The path and the parameters, escaped.
  var target: String {
    let path = path.map { "/" + percentEncoded($0) }.joined()
    guard !parameters.isEmpty else { return path }
    let pairs = parameters.map { "\(percentEncoded($0.name))=\(percentEncoded($0.value))" }
    return path + "?" + pairs.joined(separator: "&")
  }
}

package struct AdminAnswer: Sendable {
  package var status: Int
  package var body: [UInt8]
}

/// A way to a server, or to its data: takes requests in the name of the administrator. One thread at a time.
package protocol AdminConnection: AnyObject {
  /// Throws `.unavailable` if there is no answer. Every status is an answer.
  func send(_ request: AdminRequest) throws(AdminFailure) -> AdminAnswer

  func close()
}

/// An app on a server, as commands see it: what is refused is an error.
package struct AdminApp {
  let connection: any AdminConnection
  let key: String

  package init(_ connection: any AdminConnection, key: String) {
    self.connection = connection
    self.key = key
  }

  /// Sends a request below `/<service>/<app key>`; gives the body of the answer.
  @discardableResult
  func send(
    _ method: String, _ service: String, path: [String],
    parameters: [(name: String, value: String)] = [],
    headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
  ) throws(AdminFailure) -> [UInt8] {
    let answer = try connection.send(
      AdminRequest(
        method: method, path: [service, key] + path, parameters: parameters, headers: headers,
        body: body))
    guard (200..<300).contains(answer.status) else { throw Self.failure(answer) }
    return answer.body
  }

  /// The same for a small answer, as a value; null if it has no body.
  func value(
    _ method: String, _ service: String, path: [String],
    parameters: [(name: String, value: String)] = [],
    headers: [(name: String, value: String)] = [], body: JSONValue? = nil
  ) throws(AdminFailure) -> JSONValue {
    let bytes = try send(
      method, service, path: path, parameters: parameters, headers: headers, body: body?.bytes)
    guard !bytes.isEmpty else { return .null }
    do { return try JSONValue(parsing: bytes) } catch {
      throw AdminFailure(.failed, "the server has answered with no JSON: \(error.message)")
    }
  }

  private static func failure(_ answer: AdminAnswer) -> AdminFailure {
    let error = try? JSONValue(parsing: answer.body)
    let texts = ["debug", "description", "error"].compactMap { error?[$0]?.stringValue }
    let text = texts.first { !$0.isEmpty } ?? "the server has answered \(answer.status)"
    let kind: AdminFailure.Kind =
      switch answer.status {
      case 404: .notFound
      case 503: .unavailable
      default: .failed
      }
    return AdminFailure(kind, text)
  }
}
