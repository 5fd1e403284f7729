internal import KVJSON

/// An HTTP answer with its headers and its body.
struct HTTPAnswer {
  var status: Int
  /// Names in lower case.
  var headers: [String: String] = [:]
  var body: [UInt8] = []

  var text: String { String(decoding: body, as: UTF8.self) }
  /// `.null` if the body is not JSON.
  var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
  /// The value of `error`.
  var error: String? { json["error"]?.stringValue }
}

/// A small HTTP client for tests. One thread at a time.
final class HTTPClient {
  private let connection: RawConnection

  /// `address`: of the client, one of those of this machine (127.0.0.0/8).
  init?(port: UInt16, from address: String = "127.0.0.1") {
    guard let connection = RawConnection(port: port, from: address) else { return nil }
    self.connection = connection
  }

  /// Sends a request and waits for its answer; nil if the connection ends before.
  func send(
    _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8]? = nil
  ) -> HTTPAnswer? {
    var head = "\(method) \(target) HTTP/1.1\r\nHost: test\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if let body { head += "Content-Length: \(body.count)\r\n" }
    guard connection.send(Array((head + "\r\n").utf8) + (body ?? [])) else { return nil }
    return receive(hasBody: method != "HEAD")
  }

  /// Reads one answer.
  func receive(hasBody: Bool = true) -> HTTPAnswer? { Self.receive(connection, hasBody: hasBody) }

  static func receive(_ connection: RawConnection, hasBody: Bool = true) -> HTTPAnswer? {
    guard let first = connection.line(), first.hasPrefix("HTTP/1.1 "),
      let status = Int(first.dropFirst(9).prefix(3))
    else { return nil }
    var answer = HTTPAnswer(status: status)
    while let line = connection.line(), !line.isEmpty {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      answer.headers[line[..<colon].lowercased()] = String(value)
    }
    if status == 100 { return receive(connection, hasBody: hasBody) }
    guard hasBody, status != 204 else { return answer }
    if answer.headers["transfer-encoding"]?.lowercased() == "chunked" {
      guard let body = chunks(connection) else { return nil }
      answer.body = body
    } else {
      let length = answer.headers["content-length"].flatMap { Int($0) } ?? 0
      answer.body = connection.read(length)
      guard answer.body.count == length else { return nil }
    }
    return answer
  }

  private static func chunks(_ connection: RawConnection) -> [UInt8]? {
    var body: [UInt8] = []
    while let line = connection.line(), let size = Int(line, radix: 16) {
      let chunk = connection.read(size)
      guard chunk.count == size, connection.line() == "" else { return nil }
      if size == 0 { return body }
      body += chunk
    }
    return nil
  }
}
