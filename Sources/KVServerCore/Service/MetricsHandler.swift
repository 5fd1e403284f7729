/// Answers `/metrics` on an address of its own, without credentials: who may reach it is up to whoever chose the
/// address.
package final class MetricsHandler: RequestHandler {
  private let service: Service

  package init(_ service: Service) { self.service = service }

  package func checkHead(_ head: Request) -> HeadCheck { .accepted(maxBodyBytes: 0) }

  package func handle(_ request: Request, _ reply: any Reply) { reply.send(answer(request)) }

  package func refuse(_ problem: RequestProblem, requestId: String) -> Response {
    service.refuse(problem, requestId: requestId)
  }

  private func answer(_ request: Request) -> Response {
    do throws(ServerError) {
      guard request.method == .get || request.method == .head else {
        throw ServerError(.methodNotAllowed, allow: "GET, HEAD")
      }
      guard Route(request.target.path) == .metrics else { throw ServerError(.routeNotFound) }
      return service.metrics.page
    } catch {
      return Response.error(error, to: request)
    }
  }
}
