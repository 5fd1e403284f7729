internal import CCurl
package import KVBase

/// HTTP over libcurl: one thread and one multi handle, so connections are shared and kept.
///
/// Its methods block the calling thread and may be called from any thread. Close it; what is dropped
/// without being closed ends its thread too, but nobody waits for that.
package final class Transport: Sendable {
  private let mailbox: CommandQueue
  private let worker: Worker
  private let process = ProcessGeneration.current

  /// Starts the thread. Fails with `resources` only.
  package init(_ options: TransportOptions = TransportOptions()) throws(TransportError) {
    guard Self.isLibraryReady, let raw = curl_multi_init() else { throw .outOfMemory }
    // Without descriptors libcurl makes a handle that nothing can wake. This wakes the first wait of the loop.
    guard curl_multi_wakeup(raw) == CURLM_OK else {
      curl_multi_cleanup(raw)
      throw TransportError(.resources, "There is no file descriptor left for the transport.")
    }
    let multi = MultiHandle(raw: raw)
    let mailbox = CommandQueue(waking: multi)
    let worker = Worker("kv-transport") {
      Loop(multi, mailbox, options).run()
      Exit.shared.forget(mailbox)
    }
    guard let worker else {
      curl_multi_cleanup(raw)
      throw TransportError(.resources, "No thread could be started.")
    }
    self.mailbox = mailbox
    self.worker = worker
    Exit.shared.watch(mailbox, worker)
  }

  deinit { if !isForked { mailbox.close() } }

  /// Ends all exchanges with `cancelled` and waits until the thread has ended. May be called again.
  package func close() {
    guard !isForked else { return }
    mailbox.close()
    worker.join()
  }

  // MARK: One exchange

  /// Sends a request and hands the answer's body over in pieces, on the calling thread, as it comes.
  ///
  /// While the receiver works, up to 128 KiB more are read; then the server has to wait.
  package func stream<E: Error>(
    _ request: HTTPRequest, until deadline: Deadline, _ cancellation: Cancellation,
    receive: (HTTPHead, UnsafeRawBufferPointer) throws(E) -> Void
  ) throws(ExchangeFailure<E>) -> HTTPHead {
    guard !isForked else { throw .transport(.forked) }
    let handover = BodyPipe(mostBytes: request.mostBytes)
    let exchange = Exchange(request, sink: handover)
    let mailbox = self.mailbox
    return try cancellation.notifying {
      mailbox.drop(exchange, with: .cancelled)
    } during: { () throws(ExchangeFailure<E>) in
      mailbox.begin(exchange)
      do throws(ExchangeFailure<E>) {
        return try handOver(handover, exchange, until: deadline, receive)
      } catch {
        mailbox.drop(exchange, with: error.asTransport)
        throw error
      }
    }
  }

  /// Gives the receiver piece after piece, until the end or the first error.
  private func handOver<E: Error>(
    _ handover: BodyPipe, _ exchange: Exchange, until deadline: Deadline,
    _ receive: (HTTPHead, UnsafeRawBufferPointer) throws(E) -> Void
  ) throws(ExchangeFailure<E>) -> HTTPHead {
    var piece: [UInt8] = []
    while let event = handover.next(into: &piece, until: deadline) {
      switch event {
      case .end(let head): return head
      case .failure(let error): throw .transport(error)
      case .piece(let head, let mustResume):
        if mustResume { mailbox.resume(exchange) }
        do throws(E) {
          try piece.withUnsafeBufferPointer { bytes throws(E) in
            try receive(head, UnsafeRawBufferPointer(bytes))
          }
        } catch {
          throw .receiver(error)
        }
        piece.removeAll(keepingCapacity: true)
      }
    }
    throw .transport(.timedOut)
  }

  /// Sends a request and gives the whole answer.
  package func exchange(
    _ request: HTTPRequest, until deadline: Deadline, _ cancellation: Cancellation
  ) throws(TransportError) -> HTTPResponse {
    var answer: Result<HTTPResponse, TransportError> = .failure(.timedOut)
    exchangeAll(1, most: 1, until: deadline, cancellation) { _ in
      request
    } outcome: {
      answer = $1
    }
    return try answer.get()
  }

  // MARK: Many exchanges

  /// Sends `count` requests, at most `most` at a time, and hands over each outcome once, on the calling
  /// thread, in the order they come in. Returns when all have ended; the deadline and the cancellation
  /// are for all together.
  ///
  /// - Parameter request: makes a request when its turn comes, so that not all of them need memory.
  package func exchangeAll(
    _ count: Int, most: Int, until deadline: Deadline, _ cancellation: Cancellation,
    request: (Int) -> HTTPRequest, outcome: (Int, Result<HTTPResponse, TransportError>) -> Void
  ) {
    guard count > 0 else { return }
    guard !isForked else {
      for place in 0..<count { outcome(place, .failure(.forked)) }
      return
    }
    let flight = RequestGroup(mailbox, deadline)
    cancellation.notifying {
      flight.stop(with: .cancelled)
    } during: {
      var started = 0
      var ended = 0
      while ended < count {
        while started < count, started - ended < max(1, most) {
          flight.start(started, request(started))
          started += 1
        }
        for arrival in flight.arrivals() {
          ended += 1
          outcome(arrival.place, arrival.result)
        }
      }
    }
  }

  // MARK: Foundations

  /// Handles, locks and the thread do not survive `fork()`: in a child nothing of them is touched.
  private var isForked: Bool { !process.isCurrent }

  /// libcurl is initialised once and never cleaned up: the host may use it too.
  private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}

extension ExchangeFailure {
  /// What the transport's thread is told, which need not know receivers.
  fileprivate var asTransport: TransportError {
    switch self {
    case .transport(let error): error
    case .receiver: .cancelled
    }
  }
}

extension CommandQueue {
  /// Starts an exchange, or ends it when the transport is closed.
  func begin(_ exchange: Exchange) {
    if !start(exchange) { exchange.sink.end(.closed) }
  }

  /// Ends an exchange for its caller now, and for libcurl as soon as its thread gets there.
  func drop(_ exchange: Exchange, with failure: TransportError) {
    exchange.sink.end(failure)
    drop(exchange)
  }
}
