import Glibc
import KVBase
import KVTestSupport
import KVTransport
import Testing

@Suite("A connection on which nothing is sent") struct KeepAliveTests {
  /// Hundredths of a second until the system asks the other end of the connection to a port whether it is there; nil: it does not.
  private func untilProbe(port: UInt16) throws -> Int? {
    let file = try #require(fopen("/proc/self/net/tcp", "r"))
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let fields = text.split(separator: " ")
      guard fields.count > 5, fields[3] == "01",
        let remote = fields[2].split(separator: ":").last.flatMap({ UInt16($0, radix: 16) }),
        remote == port
      else { continue }
      // 02: the timer of keep-alive.
      let timer = fields[5].split(separator: ":")
      return timer.first == "02" ? timer.last.flatMap { Int($0, radix: 16) } : nil
    }
    return nil
  }

  @Test("is probed by the system, as soon as the options say", arguments: [15, 60])
  func probes(seconds: Int) throws {
    let server = try ScriptedServer { _, connection in connection.send(ScriptedReply(200, "x")) }
    defer { server.stop() }
    let transport = try Transport(TransportOptions(proxy: "", probeSeconds: seconds))
    defer { transport.close() }
    _ = try transport.exchange(
      HTTPRequest("GET", server.url + "/"), until: .after(seconds: 60), cancellation: Cancellation()
    )
    let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
    let wait = try #require(try untilProbe(port: port))
    #expect((1...(seconds * 100)).contains(wait))
    #expect(seconds == 15 || wait > 1500)
  }
}
