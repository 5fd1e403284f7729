/// One request as it came over the wire.
package struct ScriptedRequest: Sendable {
  package var method: String
  /// Path and query as they were sent.
  package var target: String
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// The number of the connection that brought it.
  package var connection: Int

  /// The first value under this name, whatever its case.
  package subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  package var text: String { String(decoding: body, as: UTF8.self) }

  enum Parsed {
    case complete(ScriptedRequest, rest: [UInt8])
    case incomplete
    case malformed
  }

  /// Reads a request from the start of `bytes`, its body by `Content-Length` or in chunks.
  static func parse(_ bytes: [UInt8], connection: Int) -> Parsed {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else {
      return .incomplete
    }
    let lines = split(String(decoding: bytes[..<end], as: UTF8.self))
    let words = lines.first?.split(separator: " ", maxSplits: 2) ?? []
    guard words.count == 3 else { return .malformed }
    var request = ScriptedRequest(
      method: String(words[0]), target: String(words[1]), headers: [], body: [],
      connection: connection)
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      request.headers.append((String(parts[0]), String(parts[1].drop { $0 == " " })))
    }
    return request.readBody(bytes[end...])
  }

  private func readBody(_ bytes: ArraySlice<UInt8>) -> Parsed {
    if self["Transfer-Encoding"]?.lowercased() == "chunked" { return readChunks(bytes) }
    let count = self["Content-Length"].flatMap { Int($0) } ?? 0
    guard bytes.count >= count else { return .incomplete }
    var request = self
    request.body = Array(bytes.prefix(count))
    return .complete(request, rest: Array(bytes.dropFirst(count)))
  }

  private func readChunks(_ bytes: ArraySlice<UInt8>) -> Parsed {
    var request = self
    var rest = bytes
    while let line = rest.firstRange(of: Array("\r\n".utf8)) {
      let size = String(decoding: rest[..<line.lowerBound], as: UTF8.self)
      guard let count = Int(size, radix: 16), count >= 0 else { return .malformed }
      rest = rest[line.upperBound...]
      guard rest.count >= count + 2 else { return .incomplete }
      request.body += rest.prefix(count)
      rest = rest.dropFirst(count + 2)
      if count == 0 { return .complete(request, rest: Array(rest)) }
    }
    return .incomplete
  }

  private static func split(_ text: String) -> [Substring] {
    text.split { $0 == "\r\n" }
  }
}

/// An ordinary reply.
package struct ScriptedReply: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(
    _ status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8]
  ) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  package init(
    _ status: Int = 200, headers: [(name: String, value: String)] = [], _ text: String = ""
  ) {
    self.init(status, headers: headers, body: Array(text.utf8))
  }

  /// As it goes over the wire, with its `Content-Length`.
  package var bytes: [UInt8] {
    var text = "HTTP/1.1 \(status) Scripted\r\n"
    for header in headers { text += "\(header.name): \(header.value)\r\n" }
    if status != 204 { text += "Content-Length: \(body.count)\r\n" }
    return Array((text + "\r\n").utf8) + body
  }
}
