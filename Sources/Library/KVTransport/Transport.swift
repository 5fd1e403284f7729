internal import CCurl
package import KVBase

/// HTTP over libcurl: one thread and one multi handle, so connections are shared and kept.
///
/// Its methods block the calling thread and may be called from any thread. Close it; what is dropped
/// without being closed ends its thread too, without waiting for that.
package final class Transport: Sendable {
  let queue: CommandQueue
  private let worker: Worker
  private let process = ProcessGeneration.current
  private let observer: RequestObserver?

  /// Starts the thread. Fails with `resources` only.
  package init(
    _ options: TransportOptions = TransportOptions(), observer: RequestObserver? = nil
  ) throws(TransportError) {
    self.observer = observer
    guard Self.isLibraryReady, let raw = curl_multi_init() else { throw .outOfMemory }
    // Without descriptors libcurl makes a handle that nothing can wake. This wakes the first wait of the loop.
    guard curl_multi_wakeup(raw) == CURLM_OK else {
      curl_multi_cleanup(raw)
      throw TransportError(.resources, "There is no free file descriptor for the transport.")
    }
    let multi = MultiHandle(raw: raw)
    let queue = CommandQueue(waking: multi)
    let worker = Worker("kv-transport") {
      Loop(multi, queue, options: options).run()
      Exit.shared.remove(queue)
    }
    guard let worker else {
      curl_multi_cleanup(raw)
      throw TransportError(.resources, "No thread could be started.")
    }
    self.queue = queue
    self.worker = worker
    Exit.shared.add(queue, worker)
  }

  deinit { if !isForked { queue.close() } }

  /// Ends all exchanges with `cancelled` and waits until the thread has ended. May be called again.
  package func close() {
    guard !isForked else { return }
    queue.close()
    worker.join()
  }

  // MARK: One exchange

  /// Sends a request and hands the answer's body over in pieces, on the calling thread, as it comes.
  ///
  /// While the receiver works, up to 128 KiB more are read; then the server has to wait.
  package func stream<E: Error>(
    _ request: HTTPRequest, until deadline: Deadline, cancellation: Cancellation,
    receive: (HTTPHead, UnsafeRawBufferPointer) throws(E) -> Void
  ) throws(ExchangeFailure<E>) -> HTTPHead {
    guard !isForked else { throw .transport(.forked) }
    let timer = observer.map { _ in RequestTimer(request) }
    var byteCount = 0
    do throws(ExchangeFailure<E>) {
      let head = try transfer(request, until: deadline, cancellation: cancellation) {
        (head, piece) throws(E) in
        byteCount += piece.count
        try receive(head, piece)
      }
      if let timer { observer?(timer.trace(.success(head), bytes: byteCount)) }
      return head
    } catch {
      if let timer { observer?(timer.trace(.failure(error.asTransport), bytes: byteCount)) }
      throw error
    }
  }

  private func transfer<E: Error>(
    _ request: HTTPRequest, until deadline: Deadline, cancellation: Cancellation,
    receive: (HTTPHead, UnsafeRawBufferPointer) throws(E) -> Void
  ) throws(ExchangeFailure<E>) -> HTTPHead {
    let pipe = BodyPipe(maxBytes: request.maxBytes)
    let exchange = Exchange(request, sink: pipe, until: deadline)
    let queue = self.queue
    return try cancellation.notifying {
      queue.drop(exchange, with: .cancelled)
    } during: { () throws(ExchangeFailure<E>) in
      queue.begin(exchange)
      do throws(ExchangeFailure<E>) {
        return try deliver(pipe, exchange, until: deadline, to: receive)
      } catch {
        queue.drop(exchange, with: error.asTransport)
        throw error
      }
    }
  }

  /// Delivers piece after piece to the receiver, until the end or the first error.
  private func deliver<E: Error>(
    _ pipe: BodyPipe, _ exchange: Exchange, until deadline: Deadline,
    to receive: (HTTPHead, UnsafeRawBufferPointer) throws(E) -> Void
  ) throws(ExchangeFailure<E>) -> HTTPHead {
    var piece: [UInt8] = []
    while let event = pipe.next(into: &piece, until: deadline) {
      switch event {
      case .end(let head):
        if head.isSuccess { deadline.noteProgress() }
        return head
      case .failure(let error): throw .transport(error)
      case .piece(let head, let mustResume):
        // There may be a next piece each time it looks: work on the pieces counts, too.
        guard !deadline.hasPassed else { throw .transport(.timedOut) }
        if mustResume { queue.resume(exchange) }
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

  /// Sends a request and returns the whole answer.
  package func exchange(
    _ request: HTTPRequest, until deadline: Deadline, cancellation: Cancellation
  ) throws(TransportError) -> HTTPResponse {
    var answer: Result<HTTPResponse, TransportError> = .failure(.timedOut)
    exchangeAll(1, concurrency: 1, until: deadline, cancellation: cancellation) { _ in
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
  /// - Parameter request: makes a request when its turn comes, so that not all of them need memory. What it throws is the
  ///   outcome.
  package func exchangeAll(
    _ count: Int, concurrency: Int, until deadline: Deadline, cancellation: Cancellation,
    request: (Int) throws(TransportError) -> HTTPRequest,
    outcome: (Int, Result<HTTPResponse, TransportError>) -> Void
  ) {
    guard count > 0 else { return }
    guard !isForked else {
      for index in 0..<count { outcome(index, .failure(.forked)) }
      return
    }
    let group = RequestGroup(queue, deadline)
    var timers: [Int: RequestTimer] = [:]
    cancellation.notifying {
      group.stop(with: .cancelled)
    } during: {
      var started = 0
      var ended = 0
      while ended < count {
        while started < count, started - ended < max(1, concurrency) {
          defer { started += 1 }
          let next: HTTPRequest
          do throws(TransportError) { next = try request(started) } catch {
            ended += 1
            outcome(started, .failure(error))
            continue
          }
          if observer != nil { timers[started] = RequestTimer(next) }
          group.start(started, next)
        }
        guard ended < started else { continue }
        for arrival in group.arrivals() {
          ended += 1
          if let timer = timers.removeValue(forKey: arrival.index) {
            observer?(timer.trace(arrival.result))
          }
          outcome(arrival.index, arrival.result)
        }
      }
    }
  }

  // MARK: Foundations

  /// Handles, locks and the thread do not survive `fork()`: in a child nothing of them is touched.
  var isForked: Bool { !process.isCurrent }

  /// libcurl is initialised once and never cleaned up: the host may use it too.
  private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}

extension ExchangeFailure {
  /// The same for the transport's thread, which knows no receivers.
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
