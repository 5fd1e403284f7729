import KVServer
import KVServerCore
import Testing

@testable import KVServerHTTP

@Suite("The PROXY protocol") struct ProxyHeaderTests {
  private static let signature: [UInt8] = Array("\r\n\r\n\0\r\nQUIT\n".utf8)

  /// A header of version 2. `addresses`: what stands behind its length.
  private static func binary(
    _ command: UInt8, _ family: UInt8, addresses: [UInt8], length: Int? = nil
  ) -> [UInt8] {
    let count = length ?? addresses.count
    return signature + [command, family, UInt8(count >> 8), UInt8(count & 0xFF)] + addresses
  }

  private static let v4: [UInt8] = [203, 0, 113, 9, 10, 0, 0, 1, 0xDC, 0x04, 0x01, 0xBB]
  private static let v6: [UInt8] =
    [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [9]
    + [UInt8](repeating: 1, count: 16) + [0xDC, 0x04, 0x01, 0xBB]

  static let headers: [(bytes: [UInt8], address: String?)] = [
    (Array("PROXY TCP4 203.0.113.9 10.0.0.1 56324 443\r\n".utf8), "203.0.113.9"),
    (Array("PROXY TCP6 2001:db8::9 ::1 56324 443\r\n".utf8), "2001:db8::9"),
    (Array("PROXY UNKNOWN\r\n".utf8), nil),
    (Array("PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n".utf8), nil),
    (binary(0x21, 0x11, addresses: v4), "203.0.113.9"),
    (binary(0x21, 0x11, addresses: v4 + [3, 0, 1, 7]), "203.0.113.9"),
    (binary(0x21, 0x21, addresses: v6), "2001:db8::9"),
    (binary(0x20, 0x11, addresses: v4), nil),
    (binary(0x20, 0x00, addresses: []), nil),
    (binary(0x21, 0x31, addresses: [UInt8](repeating: 0x2F, count: 216)), nil),
  ]

  @Test("tells where a connection comes from, in both versions", arguments: headers)
  func complete(bytes: [UInt8], address: String?) {
    guard case .complete(let header) = ProxyHeader.read(bytes + Array("GET / HTTP/1.1".utf8)) else {
      Issue.record("\(bytes)")
      return
    }
    #expect(header.count == bytes.count)
    #expect(header.source?.address.description == address)
    if address != nil { #expect(header.source?.port == 56324) }
  }

  @Test("goes on until its last byte", arguments: headers)
  func incomplete(bytes: [UInt8], address: String?) {
    for count in 0..<bytes.count {
      #expect(ProxyHeader.read(Array(bytes.prefix(count))) == .incomplete, "\(count)")
    }
  }

  @Test(
    "is nothing else",
    arguments: [
      Array("GET / HTTP/1.1\r\n\r\n".utf8), Array("PROXY\r\n".utf8), [0x16, 0x03, 0x01],
      Array("PROXY TCP4 203.0.113.9 10.0.0.1 56324\r\n".utf8),
      Array("PROXY TCP4 203.0.113.9 10.0.0.1 56324 443\n".utf8),
      Array("PROXY TCP4  203.0.113.9 10.0.0.1 56324 443\r\n".utf8),
      Array("PROXY TCP4 2001:db8::9 ::1 56324 443\r\n".utf8),
      Array("PROXY TCP6 203.0.113.9 10.0.0.1 56324 443\r\n".utf8),
      Array("PROXY TCP4 203.0.113.9 10.0.0.1 66000 443\r\n".utf8),
      Array("PROXY TCP4 203.0.113.999 10.0.0.1 56324 443\r\n".utf8),
      Array(("PROXY UNKNOWN " + String(repeating: "x", count: 200)).utf8),
      binary(0x31, 0x11, addresses: v4), binary(0x22, 0x11, addresses: v4),
      binary(0x21, 0x11, addresses: Array(v4.prefix(8))),
      binary(0x21, 0x21, addresses: v4),
    ] as [[UInt8]])
  func malformed(bytes: [UInt8]) {
    #expect(ProxyHeader.read(bytes) == .malformed)
  }

  // MARK: On a server

  private static func server(_ proxy: String) throws -> TestServer {
    try TestServer {
      $0.proxies = [IPAddress(proxy)].compactMap { $0 }
      $0.usesProxyProtocol = true
    }
  }

  private static let request = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

  @Test("comes before the requests of a trusted proxy's connection, in pieces or whole")
  func trusted() throws {
    let server = try Self.server("127.0.0.1")
    for (header, _) in Self.headers {
      let whole = try #require(RawConnection(port: server.port))
      whole.send(header + Array(Self.request.utf8))
      #expect(whole.line()?.hasSuffix("200 OK") == true)
      let pieces = try #require(RawConnection(port: server.port))
      for byte in header { pieces.send([byte]) }
      pieces.send(Self.request)
      #expect(pieces.line()?.hasSuffix("200 OK") == true)
    }
  }

  @Test("must come from a trusted proxy, whose connection is closed without it")
  func missing() throws {
    let server = try Self.server("127.0.0.1")
    let connection = try #require(RawConnection(port: server.port))
    connection.send(Self.request)
    #expect(connection.drain().isEmpty)
  }

  @Test("means nothing from others, whose connections begin with a request")
  func untrusted() throws {
    let server = try Self.server("10.0.0.1")
    let plain = try #require(RawConnection(port: server.port))
    plain.send(Self.request)
    #expect(plain.line()?.hasSuffix("200 OK") == true)
    let forged = try #require(RawConnection(port: server.port))
    forged.send(Self.headers[0].bytes + Array(Self.request.utf8))
    #expect(forged.line()?.contains("200 OK") != true)
  }
}
