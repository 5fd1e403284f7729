import Glibc
import KVBase
import KVTestSupport
import KVTransport
import Testing

@Suite("Whom the transport trusts") struct TLSTests {
  @Test("A server whose authority is not trusted gets no request")
  func untrusted() throws {
    let authority = try Authority()
    let server = try TLSServer(authority, names: "DNS:localhost,IP:127.0.0.1")
    let transport = try makeTransport()
    defer { transport.close() }
    let failure = transport.failure(of: HTTPRequest("GET", server.url("localhost")))
    #expect(failure?.kind == .certificate)
    #expect(failure?.message.contains("certificate") == true)
  }

  @Test(
    "A custom authority is trusted, for names and addresses", arguments: ["localhost", "127.0.0.1"])
  func trusted(host: String) throws {
    let authority = try Authority()
    let server = try TLSServer(authority, names: "DNS:localhost,IP:127.0.0.1")
    let transport = try makeTransport(caFile: authority.file)
    defer { transport.close() }
    let answer = try transport.get(server.url(host))
    #expect(answer.head.status == 200)
    #expect(String(decoding: answer.body, as: UTF8.self).contains("TLSv1.3"))
  }

  @Test("A certificate for another host does not count")
  func wrongHost() throws {
    let authority = try Authority()
    let server = try TLSServer(authority, names: "DNS:other.example")
    let transport = try makeTransport(caFile: authority.file)
    defer { transport.close() }
    #expect(
      transport.failure(of: HTTPRequest("GET", server.url("localhost")))?.kind == .certificate)
  }

  @Test("With a custom authority no other one is trusted")
  func otherAuthority() throws {
    let authority = try Authority()
    let server = try TLSServer(authority, names: "DNS:localhost")
    let transport = try makeTransport(caFile: try Authority().file)
    defer { transport.close() }
    #expect(
      transport.failure(of: HTTPRequest("GET", server.url("localhost")))?.kind == .certificate)
  }

  @Test("A file of authorities that is missing or damaged is an error, not a reason to trust")
  func badFile() throws {
    let authority = try Authority()
    let server = try TLSServer(authority, names: "DNS:localhost")
    let damaged = authority.directory.file("damaged.pem")
    write(Array("-----BEGIN CERTIFICATE-----\nx\n".utf8), to: damaged)
    for file in [damaged, authority.directory.file("missing.pem")] {
      let transport = try makeTransport(caFile: file)
      defer { transport.close() }
      #expect(
        transport.failure(of: HTTPRequest("GET", server.url("localhost")))?.kind == .certificate)
    }
  }

  @Test("What may be sent once only goes through the tunnel of a proxy")
  func tunnel() throws {
    let authority = try Authority()
    let server = try TLSServer(authority, names: "DNS:localhost")
    let proxy = try Relay(to: #require(UInt16(server.port)), asProxy: true)
    defer { proxy.stop() }
    let transport = try Transport(
      TransportOptions(caFile: authority.file, proxy: proxy.url))
    defer { transport.close() }
    let request = HTTPRequest("GET", server.url("localhost"), body: .once([0x7B, 0x7D]))
    #expect(try transport.exchange(request).head.status == 200)
  }

  @Test("A server that speaks no TLS")
  func plain() throws {
    try withServer { _, _ in
    } run: { transport, server in
      let url = "https://127.0.0.1:\(server.port)/"
      let failure = transport.failure(of: HTTPRequest("GET", url), until: .after(seconds: 0.5))
      #expect(failure?.kind == .tls || failure?.kind == .timeout)
    }
  }

  /// Whether it is libcurl or the TLS library that writes to the dead socket depends on their versions.
  @Test("A server that dies during an upload over TLS raises no SIGPIPE")
  func noSignal() throws {
    let authority = try Authority()
    let transport = try makeTransport(caFile: authority.file)
    defer { transport.close() }
    brokenPipes.withLockNotifyingAll { $0 = 0 }
    let before = signal(SIGPIPE) { _ in brokenPipes.withLockNotifyingAll { $0 += 1 } }
    defer { signal(SIGPIPE, before) }
    for _ in 0..<5 {
      let server = try TLSServer(authority, names: "DNS:localhost")
      let source = EndingSource(after: 1 << 20) { server.end() }
      let failure = transport.failure(
        of: HTTPRequest("PUT", server.url("localhost"), body: .source(source)))
      #expect(failure?.kind == .reset, "\(String(describing: failure))")
    }
    #expect(brokenPipes.withLock { $0 } == 0)
  }
}

/// Signals that reached a handler of this process.
private let brokenPipes = Monitor(0)

/// A body without end that lets something happen on the way.
private final class EndingSource: BodySource {
  private let sent = Monitor(0)
  private let limit: Int
  private let event: @Sendable () -> Void
  let byteCount: Int? = nil

  init(after limit: Int, _ event: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.event = event
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    let isTurn = sent.withLock { sent in
      let before = sent
      sent += buffer.count
      return before < limit && sent >= limit
    }
    if isTurn { event() }
    return buffer.count
  }

  func rewind() -> Bool { false }
}

/// A certificate authority of our own, in a directory of its own.
private struct Authority {
  let directory = TemporaryDirectory()
  var file: String { directory.file("ca.pem") }

  init() throws {
    let status = try ChildProcess.run(
      Self.newCertificate + [
        "-keyout", directory.file("ca.key"), "-out", file, "-subj", "/CN=Test authority",
        "-addext", "basicConstraints=critical,CA:TRUE",
      ])
    try #require(status == 0, "the openssl program is needed")
  }

  /// Makes a key and a certificate for a server; gives their files.
  func issue(for names: String) throws -> (key: String, certificate: String) {
    let key = directory.file("server.key")
    let certificate = directory.file("server.pem")
    let status = try ChildProcess.run(
      Self.newCertificate + [
        "-CA", file, "-CAkey", directory.file("ca.key"), "-keyout", key, "-out", certificate,
        "-subj", "/CN=server", "-addext", "basicConstraints=critical,CA:FALSE",
        "-addext", "subjectAltName=\(names)",
      ])
    try #require(status == 0)
    return (key, certificate)
  }

  private static let newCertificate = [
    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
    "-days", "2",
  ]
}

/// An HTTPS server on a free port of 127.0.0.1 whose one page tells about the connection.
private final class TLSServer: Sendable {
  private let process: ChildProcess
  let port: String

  init(_ authority: Authority, names: String) throws {
    let (key, certificate) = try authority.issue(for: names)
    process = try ChildProcess(
      [
        "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key,
        "-www",
      ])
    let greeting = try #require(process.read(until: "\nACCEPT 127.0.0.1:"))
    let rest = greeting.split(separator: "ACCEPT 127.0.0.1:").last ?? ""
    port = String(rest.prefix { $0.isNumber })
    try #require(!port.isEmpty)
  }

  func url(_ host: String) -> String { "https://\(host):\(port)/" }
  func end() { process.end() }
}
