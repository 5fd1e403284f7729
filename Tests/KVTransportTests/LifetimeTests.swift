import Glibc
import KVBase
import KVTestSupport
import KVTransport
import Testing

@Suite("Cancelling, closing and many at once") struct LifetimeTests {
  @Test("A cancellation ends a running exchange and cuts its connection")
  func cancel() throws {
    let isAsked = Gate()
    let isCut = Gate()
    try withServer { _, connection in
      isAsked.open()
      connection.waitForEnd()
      isCut.open()
    } run: { transport, server in
      let cancellation = Cancellation()
      let canceller = Worker("test-cancel") {
        isAsked.wait()
        cancellation.cancel()
      }
      let failure = transport.failure(
        of: HTTPRequest("GET", server.url), cancellation: cancellation)
      #expect(failure == .cancelled)
      #expect(isCut.wait())
      canceller?.join()
    }
  }

  @Test("A cancellation in the middle of a stream")
  func cancelStream() throws {
    try withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      while connection.send([UInt8](repeating: 1, count: 10_000)) {}
    } run: { transport, server in
      let cancellation = Cancellation()
      var pieces = 0
      let result = transport.streamed(server.url, cancellation: cancellation) {
        (_, _) throws(TransportError) in
        pieces += 1
        cancellation.cancel()
      }
      #expect(result.transportFailure() == .cancelled)
      #expect(pieces == 1)
    }
  }

  @Test("What was cancelled before is not sent")
  func cancelledBefore() throws {
    try withServer {
      $1.send(ScriptedReply())
    } run: { transport, server in
      let cancellation = Cancellation()
      cancellation.cancel()
      #expect(
        transport.failure(of: HTTPRequest("GET", server.url), cancellation: cancellation)
          == .cancelled)
      #expect(server.requests.isEmpty)
    }
  }

  @Test("Closing ends what is running, and what comes later")
  func close() throws {
    try withServer { _, connection in
      connection.waitForEnd()
    } run: { transport, server in
      let closer = Worker("test-close") {
        _ = server.waitForRequests(1)
        transport.close()
      }
      #expect(transport.failure(of: HTTPRequest("GET", server.url)) == .closed)
      closer?.join()
      #expect(transport.failure(of: HTTPRequest("GET", server.url)) == .closed)
      transport.close()
    }
  }

  @Test("At most so many are under way at once, and each outcome comes once")
  func exchangeAll() throws {
    struct Load {
      var now = 0
      var maximum = 0
    }
    let load = Monitor(Load())
    try withServer(connections: 8) { request, connection in
      load.withLockNotifyingAll {
        $0.now += 1
        $0.maximum = max($0.maximum, $0.now)
      }
      // Nobody is answered before three are here, so that they do overlap.
      _ = load.wait(until: .after(seconds: 60)) { $0.maximum >= 3 ? true : nil }
      load.withLockNotifyingAll { $0.now -= 1 }
      connection.send(ScriptedReply(200, request.target))
    } run: { transport, server in
      var seen: [Int: String] = [:]
      transport.exchangeAll(
        40, concurrency: 3, until: .after(seconds: 120), cancellation: Cancellation()
      ) {
        HTTPRequest("GET", "\(server.url)/\($0)")
      } outcome: { index, result in
        #expect(seen[index] == nil)
        seen[index] = (try? result.get()).map { String(decoding: $0.body, as: UTF8.self) }
      }
      #expect(seen == Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, "/\($0)") }))
      #expect(load.withLock { $0.maximum } == 3)
      #expect(server.connectionCount <= 3)
    }
  }

  @Test("Connections to a host are limited")
  func connectionLimit() throws {
    try withServer(connections: 2) {
      $1.send(ScriptedReply())
    } run: { transport, server in
      var count = 0
      transport.exchangeAll(
        50, concurrency: 20, until: .after(seconds: 120), cancellation: Cancellation()
      ) { _ in
        HTTPRequest("GET", server.url)
      } outcome: { _, result in
        if case .success = result { count += 1 }
      }
      #expect(count == 50)
      #expect(server.connectionCount <= 2)
    }
  }

  @Test("What waits for a connection begins as soon as there is one, and can be given up")
  func waiting() throws {
    let first = Gate()
    let busy = Gate()
    try withServer(connections: 1) { request, connection in
      if request.target == "/first" {
        busy.open()
        first.wait()
      }
      connection.send(ScriptedReply())
    } run: { transport, server in
      func ask(_ target: String, cancellation: Cancellation = Cancellation()) -> Worker? {
        Worker("test-asks") {
          _ = try? transport.get("\(server.url)/\(target)", cancellation: cancellation)
        }
      }
      let holder = ask("first")
      busy.wait()
      let givenUp = Cancellation()
      let others = [ask("second"), ask("third"), ask("never", cancellation: givenUp)]
      givenUp.cancel()
      others[2]?.join()
      first.open()
      for asking in [holder] + others { asking?.join() }
      #expect(Set(server.requests.map(\.target)) == ["/first", "/second", "/third"])
      #expect(server.connectionCount == 1)
    }
  }

  @Test("A cancellation among many: all of them end, those not yet sent too")
  func cancelMany() throws {
    try withServer { request, connection in
      if request.target == "/0" {
        connection.send(ScriptedReply())
      } else {
        connection.waitForEnd()
      }
    } run: { transport, server in
      let cancellation = Cancellation()
      var outcomes: [Int: Result<HTTPResponse, TransportError>] = [:]
      transport.exchangeAll(
        30, concurrency: 4, until: .after(seconds: 120), cancellation: cancellation
      ) {
        HTTPRequest("GET", "\(server.url)/\($0)")
      } outcome: { index, result in
        outcomes[index] = result
        cancellation.cancel()
      }
      #expect(outcomes.count == 30)
      #expect(outcomes.values.filter { $0 == .failure(.cancelled) }.count == 29)
    }
  }

  @Test("A deadline among many: all of them end")
  func deadlineMany() throws {
    try withServer { _, connection in
      connection.waitForEnd()
    } run: { transport, server in
      var failures: [TransportError] = []
      transport.exchangeAll(
        20, concurrency: 2, until: .after(seconds: 0.2), cancellation: Cancellation()
      ) { _ in
        HTTPRequest("GET", server.url)
      } outcome: { _, result in
        if case .failure(let error) = result { failures.append(error) }
      }
      #expect(failures == Array(repeating: .timedOut, count: 20))
    }
  }

  @Test("Many threads share one transport")
  func threads() throws {
    try withServer {
      $1.send(ScriptedReply(200, $0.target))
    } run: { transport, server in
      let wrong = Monitor(0)
      let url = server.url
      let workers = (0..<8).compactMap { number in
        Worker("test-\(number)") {
          for turn in 0..<50 {
            let path = "/\(number)/\(turn)"
            let answer = try? transport.get(url + path)
            if answer?.body != Array(path.utf8) { wrong.withLockNotifyingAll { $0 += 1 } }
          }
        }
      }
      for worker in workers { worker.join() }
      #expect(workers.count == 8)
      #expect(wrong.withLock { $0 } == 0)
    }
  }

  @Test("Connections are not inherited by programs that the host runs")
  func closeOnExec() throws {
    try withServer {
      $1.send(ScriptedReply())
    } run: { transport, server in
      _ = try transport.get(server.url)
      let open = names(in: "/proc/self/fd").compactMap { Int32($0) }
      let flags = open.filter { peerPort(of: $0) == server.port }.map { fcntl($0, F_GETFD) }
      #expect(flags == [FD_CLOEXEC])
    }
  }

  @Test("A transport that is dropped without being closed ends its thread")
  func dropped() throws {
    weak var gone: Transport?
    do {
      let transport = try makeTransport()
      gone = transport
    }
    #expect(gone == nil)
  }
}

/// The port that a socket is connected to; nil if the descriptor is none.
private func peerPort(of descriptor: Int32) -> UInt16? {
  var address = sockaddr_in()
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let status = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      getpeername(descriptor, $0, &length)
    }
  }
  return status == 0 ? UInt16(bigEndian: address.sin_port) : nil
}
