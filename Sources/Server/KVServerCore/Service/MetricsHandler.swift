/// Answers `/metrics` on an address of its own, without credentials: the operator who chose the address decides who reaches
/// it.
package final class MetricsHandler: RequestHandler {
  private let service: Service
  private let hosts: [String]

  /// `hosts`: the names under which it may be asked. By another name a web page of anybody, whose browser can reach the address, could
  /// read the answer (DNS rebinding); an attacker cannot own addresses or `localhost`.
  package init(_ service: Service, hosts: [String] = []) {
    self.service = service
    self.hosts = hosts.map { $0.lowercased() }
  }

  package func checkHead(_ head: Request) -> HeadCheck {
    .accepted(maxBodyBytes: 0, for: .address(head.client))
  }

  package func handle(_ request: Request, _ reply: any Reply) { reply.send(answer(request)) }

  package func isPrivileged(_ head: Request) -> Bool { true }

  package func refuse(_ problem: RequestProblem, requestId: String) -> Response {
    service.refuse(problem, requestId: requestId)
  }

  private func isKnown(host text: String?) -> Bool {
    // HTTP/1.0, which browsers do not speak, needs none.
    guard let text else { return true }
    let name =
      text.hasPrefix("[")
      ? String(text.dropFirst().prefix { $0 != "]" })
      : String(text.prefix { $0 != ":" }).lowercased()
    return name == "localhost" || IPAddress(name) != nil || hosts.contains(name)
  }

  private func answer(_ request: Request) -> Response {
    do throws(ServerError) {
      guard request.method == .get || request.method == .head else {
        throw ServerError(.methodNotAllowed, allow: "GET, HEAD")
      }
      guard Route(request.target.path) == .metrics else { throw ServerError(.routeNotFound) }
      guard isKnown(host: request.headers[.host]) else {
        throw ServerError(.writesToCollectionDisallowed, "this name of the host is not known here")
      }
      return service.metrics.page
    } catch {
      return Response.error(error, to: request)
    }
  }
}
