internal import CCurl
internal import Glibc

/// The transport's thread: every call of libcurl but one happens here.
///
/// All signals are blocked in it, so that a SIGPIPE of a dead connection, TLS included, stays on this
/// thread and never reaches the host.
final class Loop {
  private let multi: MultiHandle
  private let queue: CommandQueue
  private let options: TransportOptions
  private var limiter: HostLimiter
  private var transfers: [ObjectIdentifier: Transfer] = [:]
  private var sockets: Sockets

  init(_ multi: MultiHandle, _ queue: CommandQueue, options: TransportOptions) {
    self.multi = multi
    self.queue = queue
    self.options = options
    limiter = HostLimiter(limit: options.connections)
    sockets = Sockets(multi, options)
  }

  /// Runs until the queue is closed.
  func run() {
    setLimits()
    while true {
      let commands = queue.removeAll()
      if commands.isClosing { return finish(commands) }
      handle(commands)
      perform()
      sockets.work()
      announce()
      // The queue wakes this up, and so does libcurl's own timer; the limit is just a number.
      var waiting = sockets.waiting
      let result = curl_multi_poll(multi.raw, &waiting, UInt32(waiting.count), 60_000, nil)
      if result != CURLM_OK { failAll() }
    }
  }

  private func setLimits() {
    kvcurl_multi_set_long(multi.raw, CURLMOPT_MAXCONNECTS, max(1, options.connections) &* 2)
    // One stream for each HTTP/2 connection: a receiver that is slow pauses its own connection only.
    kvcurl_multi_set_long(multi.raw, CURLMOPT_MAX_CONCURRENT_STREAMS, 1)
  }

  // MARK: Commands

  private func handle(_ commands: CommandQueue.Commands) {
    for exchange in commands.starting where limiter.admit(exchange) { start(exchange) }
    for exchange in commands.resuming { transfers[ObjectIdentifier(exchange)]?.resume() }
    for exchange in commands.dropping { drop(exchange) }
    for link in commands.connecting { sockets.connect(link) }
  }

  private func start(_ exchange: Exchange) {
    var next: Exchange? = exchange
    while let exchange = next {
      do throws(TransportError) {
        let transfer = try Transfer(exchange, options)
        guard curl_multi_add_handle(multi.raw, transfer.easy) == CURLM_OK else {
          throw .outOfMemory
        }
        transfers[ObjectIdentifier(exchange)] = transfer
        return
      } catch {
        exchange.sink.end(error)
        next = limiter.leave(exchange)
      }
    }
  }

  private func drop(_ exchange: Exchange) {
    guard let transfer = transfers.removeValue(forKey: ObjectIdentifier(exchange)) else {
      return limiter.remove(exchange)
    }
    curl_multi_remove_handle(multi.raw, transfer.easy)
    if let next = limiter.leave(exchange) { start(next) }
  }

  // MARK: Work

  private func perform() {
    var running: Int32 = 0
    errno = 0
    guard curl_multi_perform(multi.raw, &running) == CURLM_OK else { return failAll() }
    var result = CURLE_OK
    while let easy = kvcurl_multi_next_done(multi.raw, &result) {
      if sockets.connected(easy, result) { continue }
      guard let transfer = Transfer.of(easy) else { continue }
      let failure = transfer.failure(of: result)
      drop(transfer.exchange)
      transfer.exchange.sink.end(failure)
    }
  }

  private func announce() {
    for transfer in transfers.values where transfer.hasNews {
      transfer.hasNews = false
      transfer.exchange.sink.announce()
    }
  }

  // MARK: Ends

  /// libcurl could not go on at all, for want of memory most likely.
  private func failAll(_ failure: TransportError = .outOfMemory) {
    sockets.endAll(failure)
    for exchange in limiter.removeAllWaiting() { exchange.sink.end(failure) }
    for exchange in transfers.values.map(\.exchange) {
      drop(exchange)
      exchange.sink.end(failure)
    }
  }

  private func finish(_ commands: CommandQueue.Commands) {
    let late = queue.shutDown()
    for exchange in commands.starting + late.starting { exchange.sink.end(.closed) }
    for link in commands.connecting + late.connecting { link.end(.closed) }
    failAll(.closed)
    curl_multi_cleanup(multi.raw)
  }
}

extension TransportError {
  package static let outOfMemory = TransportError(
    .resources, "There is not enough memory for the transfer.")
}
