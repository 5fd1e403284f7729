import KVBase
import KVTestSupport
import KVTransport
import Testing

@Suite("Answers in pieces") struct StreamingTests {
  private struct Enough: Error, Equatable {}

  @Test("All bytes come, in order, and the pieces are bounded")
  func order() throws {
    let body = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    try withServer {
      $1.send(ScriptedReply(body: body))
    } run: { transport, server in
      var received: [UInt8] = []
      var largest = 0
      let head = try transport.streamed(server.url) { (_, piece) throws(Enough) in
        received += piece
        largest = max(largest, piece.count)
      }.get()
      #expect(head.bodyBytes == body.count)
      #expect(received == body)
      #expect(largest <= 512 << 10)
    }
  }

  @Test("The time of a transfer begins anew while bytes come, and not for a short refusal")
  func progress() throws {
    try withServer { request, connection in
      let isLong = request.target == "/long"
      let body = [UInt8](repeating: 1, count: isLong ? 1 << 20 : 100)
      connection.send(ScriptedReply(isLong ? 200 : 500, body: body))
    } run: { transport, server in
      for (path, moves) in [("/long", true), ("/short", false)] {
        let request = HTTPRequest("GET", server.url + path)
        let deadline = Deadline.after(secondsWithoutProgress: 1_000)
        let first = try #require(deadline.nanoseconds)
        _ = try transport.exchange(request, until: deadline, cancellation: Cancellation())
        let end = try #require(deadline.nanoseconds)
        #expect((end > first) == moves)
        let other = Deadline.after(secondsWithoutProgress: 1_000)
        let start = try #require(other.nanoseconds)
        _ = try transport.stream(request, until: other, cancellation: Cancellation()) {
          (_, _) throws(Enough) in
        }
        let otherEnd = try #require(other.nanoseconds)
        #expect((otherEnd > start) == moves)
      }
    }
  }

  @Test("A receiver that works long makes the server wait and disturbs no other exchange")
  func backPressure() throws {
    let total = 64 << 20
    let sent = Monitor(0)
    try withServer { request, connection in
      guard request.target == "/big" else {
        connection.send(ScriptedReply(200, "small"))
        return
      }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
      let block = [UInt8](repeating: 1, count: 1 << 20)
      while sent.withLock({ $0 }) < total, connection.send(block) {
        sent.withLockNotifyingAll { $0 += block.count }
      }
    } run: { transport, server in
      var isFirst = true
      var received = 0
      var sentMeanwhile = 0
      let result = transport.streamed(server.url + "/big") { (_, piece) throws(TransportError) in
        received += piece.count
        guard isFirst else { return }
        isFirst = false
        for _ in 0..<50 {
          if let failure = transport.failure(of: HTTPRequest("GET", server.url + "/small")) {
            throw failure
          }
        }
        sentMeanwhile = sent.withLock { $0 }
      }
      let status = try result.get().status
      #expect(status == 200)
      #expect(received == total)
      #expect(sentMeanwhile < total)
    }
  }

  @Test("A packed answer that unpacks to gigabytes is stopped, also when its receiver is slow")
  func bomb() throws {
    let isSeen = Gate()
    try withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
      connection.send(GzipBomb.start)
      for _ in 0..<100 where connection.send(GzipBomb.block) {}
      isSeen.open()
      while connection.send(GzipBomb.block) {}
    } run: { transport, server in
      let request = HTTPRequest("GET", server.url, maxBytes: 20 << 20)
      var largest = 0
      do throws(ExchangeFailure<Enough>) {
        _ = try transport.stream(request, until: .after(seconds: 120), cancellation: Cancellation())
        {
          (_, piece) throws(Enough) in
          largest = max(largest, piece.count)
          isSeen.wait()
        }
        Issue.record("no error")
      } catch {
        guard case .transport(let failure) = error else {
          Issue.record("\(error)")
          return
        }
        #expect(failure.kind == .tooLarge, "\(failure)")
      }
      #expect(largest <= 512 << 10)
    }
  }

  @Test("The receiver's error comes out and stops the transfer")
  func receiverThrows() throws {
    let isCut = Gate()
    try withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      while connection.send([UInt8](repeating: 1, count: 10_000)) {}
      isCut.open()
    } run: { transport, server in
      let result = transport.streamed(server.url) { (_, _) throws(Enough) in throw Enough() }
      guard case .failure(.receiver(let error)) = result else {
        Issue.record("\(result)")
        return
      }
      #expect(error == Enough())
      #expect(isCut.wait())
    }
  }

  @Test("Bytes that came before the connection broke are followed by the error")
  func brokenLater() throws {
    try withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
      connection.close()
    } run: { transport, server in
      let result = transport.streamed(server.url) { (_, _) throws(Enough) in }
      #expect(result.transportFailure()?.kind == .reset)
    }
  }

  @Test("An empty answer has a head and no pieces")
  func empty() throws {
    try withServer {
      $1.send(ScriptedReply(204))
    } run: { transport, server in
      let head = try transport.streamed(server.url) { (_, _) throws(Enough) in throw Enough() }
        .get()
      #expect(head.status == 204)
    }
  }

  @Test("Pieces are handed over as they come, not only when a buffer is full")
  func slowBytes() throws {
    let isSeen = Gate()
    try withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
      isSeen.wait()
      connection.send("b")
    } run: { transport, server in
      var text = ""
      _ = try transport.streamed(server.url) { (_, piece) throws(Enough) in
        text += String(decoding: piece, as: UTF8.self)
        isSeen.open()
      }.get()
      #expect(text == "ab")
    }
  }
}
