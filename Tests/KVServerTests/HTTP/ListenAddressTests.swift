import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("Listening addresses") struct ListenAddressTests {
  @Test("are read from text")
  func parsing() {
    #expect(ListenAddress("127.0.0.1:8778") == .init(host: "127.0.0.1", port: 8778))
    #expect(ListenAddress("[::1]:0") == .init(host: "::1", port: 0))
    #expect(ListenAddress(":80") == .init(host: "", port: 80))
  }

  @Test(
    "are refused when they are none",
    arguments: ["", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "::1:80", "x:-1"])
  func misuse(text: String) { #expect(ListenAddress(text) == nil) }

  @Test("are written so that a URL can be made of them")
  func description() {
    #expect(ListenAddress(host: "::1", port: 1).description == "[::1]:1")
    #expect(ListenAddress(host: "localhost", port: 1).description == "localhost:1")
  }

  @Test("tell the port that the system chose, and that a port is taken")
  func sockets() throws {
    let first = try ListenSocket(.init(host: "127.0.0.1", port: 0))
    #expect(first.address.port != 0)
    do {
      _ = try ListenSocket(first.address)
      Issue.record("the port was given twice")
    } catch {
      #expect(error.message.hasPrefix("cannot listen on 127.0.0.1:"))
    }
  }
}
