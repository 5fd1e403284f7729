import KVBase
import KVTestSupport
import KVTransport
import Testing

@Suite("Through a proxy") struct ProxyTests {
  @Test("Requests over plain HTTP go to the proxy whole")
  func plain() throws {
    let proxy = try ScriptedServer(replying: { _ in ScriptedReply(200, "by proxy") })
    defer { proxy.stop() }
    let transport = try Transport(TransportOptions(proxy: proxy.url))
    defer { transport.close() }
    let answer = try transport.get("http://backend.invalid/path?x=1")
    #expect(answer.body == Array("by proxy".utf8))
    #expect(proxy.requests.map(\.target) == ["http://backend.invalid/path?x=1"])
  }

  @Test("Of requests over TLS the proxy learns the host and nothing else")
  func tunnel() throws {
    let proxy = try ScriptedServer(replying: { _ in ScriptedReply(403, "no") })
    defer { proxy.stop() }
    let transport = try Transport(TransportOptions(proxy: proxy.url))
    defer { transport.close() }
    let failure = transport.failure(
      of: HTTPRequest(
        "GET", "https://backend.invalid/secret",
        headers: [HTTPHeader("Authorization", "Kinvey token"), HTTPHeader("X-Mine", "1")]))
    #expect(failure != nil)
    let request = try #require(proxy.requests.first)
    #expect(request.method == "CONNECT")
    #expect(request.target == "backend.invalid:443")
    #expect(request["Authorization"] == nil)
    #expect(request["X-Mine"] == nil)
  }

  @Test("A proxy that is not there")
  func gone() throws {
    let proxy = try ScriptedServer { _, _ in }
    let url = proxy.url
    proxy.stop()
    let transport = try Transport(TransportOptions(proxy: url))
    defer { transport.close() }
    #expect(
      transport.failure(of: HTTPRequest("GET", "http://backend.invalid/"))?.kind == .connect)
  }
}
