import KVBase
import KVTestSupport
import KVTransport

/// Stands between a client and a server: it hands on requests and answers, unless somebody else is to answer.
final class Portal: Sendable {
  /// What happens to a request that the server alone does not answer.
  private enum Treatment: Sendable {
    /// Somebody else answers; nil: nobody does.
    case answer(ScriptedReply?)
    /// The server is asked, and its answer lost.
    case loseAnswer
    /// The server is asked, and something happens before its answer arrives.
    case delayAnswer(@Sendable (HTTPResponse) -> Void)
  }

  private struct Rule {
    var count: Int
    let treatment: Treatment
  }

  /// What each connection says for itself.
  private static let own = [
    "host", "content-length", "connection", "accept-encoding", "transfer-encoding",
  ]

  private let server: ScriptedServer
  private let transport: Transport
  private let stopped: Cancellation
  private let rules: Monitor<[String: Rule]>

  init(to url: String) throws {
    let transport = try Transport(TransportOptions(proxy: "", connections: 100))
    let stopped = Cancellation()
    let rules = Monitor<[String: Rule]>([:])
    server = try ScriptedServer { request, connection in
      let treatment = Self.treatment(of: request, rules)
      if case .answer(let reply) = treatment {
        guard let reply else { return connection.waitForEnd() }
        connection.send(reply)
        return
      }
      let answer = Self.ask(request, url, over: transport, until: stopped)
      if case .delayAnswer(let meanwhile) = treatment, let answer { meanwhile(answer) }
      if case .loseAnswer = treatment { return connection.close() }
      guard let answer else { return connection.close() }
      connection.send(Self.reply(answer))
    }
    self.transport = transport
    self.stopped = stopped
    self.rules = rules
  }

  var url: String { server.url }

  /// What was asked so far.
  var requests: [ScriptedRequest] { server.requests }

  func stop() {
    stopped.cancel()
    server.stop()
    transport.close()
  }

  /// Answers the next requests whose target contains `path` in the server's place; nil: lets them wait for ever.
  func answer(_ path: String, times count: Int, with reply: ScriptedReply?) {
    rules.withLockNotifyingAll { $0[path] = Rule(count: count, treatment: .answer(reply)) }
  }

  /// Loses the answers of the server to the next requests whose method is `method` and whose target contains `path`.
  func loseAnswers(to method: String, _ path: String, times count: Int = 1) {
    rules.withLockNotifyingAll {
      $0["\(method) \(path)"] = Rule(count: count, treatment: .loseAnswer)
    }
  }

  /// Lets something happen when the server has answered the next request whose method is `method` and whose target contains `path`,
  /// and before the answer arrives.
  func whileAnswering(
    _ method: String, _ path: String, do meanwhile: @escaping @Sendable (HTTPResponse) -> Void
  ) {
    rules.withLockNotifyingAll {
      $0["\(method) \(path)"] = Rule(count: 1, treatment: .delayAnswer(meanwhile))
    }
  }

  /// Lets the server answer everything.
  func obey() { rules.withLockNotifyingAll { $0 = [:] } }

  /// Waits until the server is heard again wherever somebody else was to answer; false if that takes more than ten
  /// seconds.
  func waitForEnd() -> Bool {
    rules.wait(until: .after(seconds: 60)) { rules in
      rules.values.allSatisfy { $0.count == 0 } ? true : nil
    } ?? false
  }

  private static func treatment(
    of request: ScriptedRequest, _ rules: Monitor<[String: Rule]>
  ) -> Treatment? {
    // A rule for one method begins with it.
    let line = "\(request.method) \(request.target)"
    return rules.withLockNotifyingAll { rules in
      guard let path = rules.keys.first(where: { line.contains($0) }), let rule = rules[path],
        rule.count > 0
      else { return nil }
      rules[path]?.count -= 1
      return rule.treatment
    }
  }

  private static func ask(
    _ request: ScriptedRequest, _ url: String, over transport: Transport,
    until stopped: Cancellation
  ) -> HTTPResponse? {
    let headers = request.headers.filter { !own.contains($0.name.lowercased()) }
    let forwarded = HTTPRequest(
      request.method, url + request.target, headers: headers.map { HTTPHeader($0.name, $0.value) },
      body: request.method == "GET" ? nil : .bytes(request.body))
    return try? transport.exchange(forwarded, until: .after(seconds: 300), cancellation: stopped)
  }

  private static func reply(_ answer: HTTPResponse) -> ScriptedReply {
    let kept = answer.head.headers.filter {
      !(own + ["content-encoding"]).contains($0.name.lowercased())
    }
    return ScriptedReply(
      answer.head.status, headers: kept.map { ($0.name, $0.value) }, body: answer.body)
  }
}
