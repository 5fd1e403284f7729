import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("/metrics") struct MetricsTests {
  @Test("counts requests by route, method and status, with a histogram of their times")
  func requests() throws {
    let server = try TestServer()
    for _ in 0..<3 { try server.send(as: .master, "GET", "/appdata/kid/notes/x").expect(404) }
    try server.send(as: .nobody, "GET", "/nowhere").expect(404)
    let labels = "route=\"entity\",method=\"GET\",status=\"404\""
    let count = "\nkvstored_request_duration_seconds_count{\(labels)} 3\n"
    // Each request is counted on its own: the last one may be before the first.
    let page = try server.metrics { $0.contains(count) && $0.contains("route=\"unknown\"") }
    #expect(page.contains(count) && page.contains("route=\"unknown\""), "\(page)")
    #expect(
      page.contains("\nkvstored_request_duration_seconds_bucket{\(labels),le=\"+Inf\"} 3\n"))
    #expect(page.contains("\n# TYPE kvstored_request_duration_seconds histogram\n"))
  }

  @Test("shows threads, polls, feed, storage, connections and memory")
  func parts() throws {
    let server = try TestServer()
    let page = try server.metrics { _ in true }
    let lines = page.split(separator: "\n").map(String.init)
    for name in [
      "kvstored_workers{pool=\"data\"} 16", "kvstored_workers_busy{pool=\"data\"} 1",
      "kvstored_work_waiting{pool=\"passwords\"} 0", "kvstored_polls_waiting 0",
      "kvstored_feed_waiting ", "kvstored_feed_age_seconds ", "kvstored_connections 1",
      "kvstored_requests_active 1", "kvstored_body_memory_bytes 0",
      "process_resident_memory_bytes ", "process_open_fds ",
    ] {
      #expect(lines.contains { $0.hasPrefix(name) }, "\(name) in \(page)")
    }
    let own =
      TestStorage.isPostgres
      ? "kvstored_pool_connections{state=\"idle\"} " : "kvstored_storage_bytes{part=\"log\"} "
    #expect(lines.contains { $0.hasPrefix(own) }, "\(page)")
  }

  @Test("counts the polls that wait")
  func polls() throws {
    let server = try TestServer()
    let device = try LiveDevice(server, try server.user("ana"))
    let first = try device.poll(nil)
    let waiting = try device.start(first.json["t"])
    let page = try server.metrics { $0.contains("kvstored_polls_waiting 1") }
    #expect(page.contains("kvstored_polls_waiting 1"))
    _ = waiting
  }

  @Test("takes the master secret of an app", arguments: [TestServer.Who.nobody, .app])
  func credentials(who: TestServer.Who) throws {
    let server = try TestServer()
    let answer = try server.send(as: who, "GET", "/metrics").expect(401)
    #expect(answer.error == "InvalidCredentials")
  }

  @Test("needs no credentials on an address of its own, where nothing else is")
  func ownAddress() throws {
    let server = try TestServer {
      $0.metrics = ListenAddress(host: "127.0.0.1", port: 0)
      $0.metricsHosts = ["test"]
    }
    let address = try #require(server.server.metricsAddress)
    let client = try #require(HTTPClient(port: address.port))
    let page = try #require(client.send("GET", "/metrics"))
    #expect(page.status == 200 && page.text.contains("kvstored_workers"))
    #expect(page.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    let headers = [("Authorization", "Basic a2lkOm1hcw==")]
    #expect(client.send("GET", "/appdata/kid", headers: headers)?.status == 404)
    #expect(client.send("PUT", "/metrics")?.status == 405)
  }

  @Test("is not for web pages that have given themselves the address: the name must be known")
  func hosts() throws {
    let server = try TestServer { $0.metrics = ListenAddress(host: "127.0.0.1", port: 0) }
    let address = try #require(server.server.metricsAddress)
    for (host, status) in [
      ("evil.example", 403), ("evil.example:\(address.port)", 403), ("127.0.0.1.evil.example", 403),
      ("127.0.0.1:\(address.port)", 200), ("localhost", 200), ("[::1]:9778", 200),
      ("LOCALHOST:1", 200),
    ] {
      let connection = try #require(RawConnection(port: address.port))
      connection.send("GET /metrics HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      #expect(HTTPClient.receive(connection)?.status == status, "\(host)")
    }
  }

  @Test("has values of labels as the format escapes them, and numbers as it writes them")
  func format() {
    var page = MetricsText()
    page.begin("m", .gauge, help: "Help.")
    page.add(0.25, [("a", "x\"\\\ny")])
    page.add(.infinity)
    page.add(3)
    let text = String(decoding: page.bytes, as: UTF8.self)
    #expect(text == "# HELP m Help.\n# TYPE m gauge\nm{a=\"x\\\"\\\\\\ny\"} 0.25\nm +Inf\nm 3\n")
  }

  @Test("does not grow with methods and statuses that clients invent")
  func bounded() {
    let metrics = RequestMetrics()
    for number in 0..<1000 {
      metrics.add(.unknown, method: "M\(number)", status: 404, nanoseconds: 1, bytes: 0)
    }
    var page = MetricsText()
    metrics.write(to: &page)
    #expect(
      String(decoding: page.bytes, as: UTF8.self).contains(
        "_count{route=\"unknown\",method=\"other\",status=\"404\"} 1000\n"))
  }
}

extension TestServer {
  /// The page of metrics, once it is what is waited for: a request is counted when its answer has been sent.
  func metrics(until isDone: (String) -> Bool) throws -> String {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let page = try send(as: .master, "GET", "/metrics").expect(200).text
      if isDone(page) || ContinuousClock.now > deadline { return page }
    }
  }
}
