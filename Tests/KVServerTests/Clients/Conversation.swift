internal import KVJSON
import Testing

/// Requests as a client library sends them, byte for byte, and the answers it gets, in the order in which an
/// application causes them.
///
/// Texts may have placeholders: `{id}` (24 hex digits), `{token}` (64), `{secret}` (32), `{uuid}`, and
/// `{time}`. In an expected answer the first one of a name takes what stands there, all later ones are the same; a time
/// is any. A digit after the name makes another one: `{id2}`.
final class Conversation {
  let server: TestServer
  /// What the library says in every request, a header each line.
  private let headers: String
  private var values: [String: String] = [:]

  init(_ server: TestServer, headers: String) {
    self.server = server
    self.headers = headers
  }

  enum Credentials: String {
    case app = "Basic a2lkOnNlYw=="
    case master = "Basic a2lkOm1hcw=="
    case session = "Kinvey {token}"
  }

  /// Sends a request without a body, such as `GET /user/kid/_me`, on a connection of its own, and compares the answer.
  /// `expected` nil: any.
  @discardableResult
  func ask(
    _ line: String, _ credentials: Credentials, headers more: String = "", status: Int,
    answer expected: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> HTTPAnswer {
    let request = request(line, credentials, body: nil, headers: more)
    return try compare(
      line, request, status: status, expected: expected, sourceLocation: sourceLocation)
  }

  /// The same with a body.
  @discardableResult
  func ask(
    _ line: String, _ credentials: Credentials, body: String, headers more: String = "",
    status: Int, answer expected: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> HTTPAnswer {
    let request = request(line, credentials, body: body, headers: more)
    return try compare(
      line, request, status: status, expected: expected, sourceLocation: sourceLocation)
  }

  private func compare(
    _ line: String, _ request: String, status: Int, expected: String?,
    sourceLocation: SourceLocation
  ) throws -> HTTPAnswer {
    let answer = try receive(request)
    let text = answer.text
    #expect(answer.status == status, "\(line)", sourceLocation: sourceLocation)
    if let expected {
      #expect(fill(expected, from: text) == text, "\(line)", sourceLocation: sourceLocation)
    }
    return answer
  }

  /// Expects a header of an answer.
  func expect(
    _ answer: HTTPAnswer, header: String, is expected: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(answer.headers[header] == fill(expected), sourceLocation: sourceLocation)
  }

  private func request(
    _ line: String, _ credentials: Credentials, body: String?, headers more: String
  ) -> String {
    let body = body.map { fill($0) }
    var lines = ["\(fill(line)) HTTP/1.1", "Host: baas.test"]
    lines += (headers + "\n" + more).split(separator: "\n").map(String.init)
    lines.append("Authorization: " + fill(credentials.rawValue))
    if body != nil || line.hasPrefix("POST") || line.hasPrefix("PUT") {
      lines.append("Content-Length: \((body ?? "").utf8.count)")
    }
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
  }

  private func receive(_ request: String) throws -> HTTPAnswer {
    guard let connection = RawConnection(port: server.port), connection.send(request),
      let answer = HTTPClient.receive(connection)
    else { throw TestServer.Missing(what: "answer to \(request)") }
    return answer
  }

  // MARK: Places to be filled in

  private static let lengths = ["id": 24, "token": 64, "secret": 32, "uuid": 36, "time": 24]

  private func fill(_ text: String, from actual: String = "") -> String {
    let actual = Array(actual.utf8)
    var filled: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")),
        let value = value(
          String(decoding: rest[..<end], as: UTF8.self), actual.dropFirst(filled.count))
      else {
        filled.append(byte)
        continue
      }
      filled += value.utf8
      rest = rest[(end + 1)...]
    }
    return String(decoding: filled, as: UTF8.self)
  }

  private func value(_ name: String, _ actual: ArraySlice<UInt8>) -> String? {
    let kind = name.filter { !$0.isNumber }
    guard let length = Self.lengths[kind] else { return nil }
    if kind != "time", let known = values[name] { return known }
    let found = actual.prefix(length)
    guard found.count == length, !found.contains(UInt8(ascii: "\"")) else { return nil }
    values[name] = String(decoding: found, as: UTF8.self)
    return values[name]
  }
}
