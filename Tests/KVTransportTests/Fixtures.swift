import KVBase
import KVTestSupport
import KVTransport
import Testing

/// A transport that ignores the proxies of the machine the tests run on.
func makeTransport(
  caFile: String? = nil, connections: Int = 6, connectSeconds: Double = 10
) throws -> Transport {
  try Transport(
    TransportOptions(
      caFile: caFile, proxy: "", connections: connections, connectSeconds: connectSeconds))
}

extension Transport {
  /// One exchange with a deadline that only a defect reaches.
  func exchange(_ request: HTTPRequest) throws(TransportError) -> HTTPResponse {
    try exchange(request, until: .after(seconds: 120), cancellation: Cancellation())
  }

  /// One exchange with a deadline that only a defect reaches.
  func get(
    _ url: String, maxBytes: Int = 1 << 20, until deadline: Deadline = .after(seconds: 120),
    cancellation: Cancellation = Cancellation()
  ) throws -> HTTPResponse {
    try exchange(
      HTTPRequest("GET", url, maxBytes: maxBytes), until: deadline, cancellation: cancellation)
  }

  /// What goes wrong with one exchange.
  func failure(
    of request: HTTPRequest, until deadline: Deadline = .after(seconds: 120),
    cancellation: Cancellation = Cancellation()
  ) -> TransportError? {
    do throws(TransportError) {
      _ = try exchange(request, until: deadline, cancellation: cancellation)
      return nil
    } catch {
      return error
    }
  }
}

extension Transport {
  /// One answer in pieces; what goes wrong is part of the result.
  func streamed<E: Error>(
    _ url: String, until deadline: Deadline = .after(seconds: 120),
    cancellation: Cancellation = Cancellation(),
    receive: (HTTPHead, UnsafeRawBufferPointer) throws(E) -> Void
  ) -> Result<HTTPHead, ExchangeFailure<E>> {
    do throws(ExchangeFailure<E>) {
      return .success(
        try stream(
          HTTPRequest("GET", url), until: deadline, cancellation: cancellation, receive: receive))
    } catch {
      return .failure(error)
    }
  }
}

extension Result {
  /// The failure of the transport, if that is what it is.
  func transportFailure<E>() -> TransportError? where Failure == ExchangeFailure<E> {
    guard case .failure(.transport(let error)) = self else { return nil }
    return error
  }
}

/// Runs `body` with a transport and a server, and ends both.
func withServer(
  connections: Int = 6, _ script: @escaping ScriptedServer.Script,
  run body: (Transport, ScriptedServer) throws -> Void
) throws {
  let server = try ScriptedServer(script)
  defer { server.stop() }
  let transport = try makeTransport(connections: connections)
  defer { transport.close() }
  try body(transport, server)
}
