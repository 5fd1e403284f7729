internal import KVBase
internal import KVHTTP
internal import KVSync
package import KVTransport

/// The connections of long polls, made when the first one is: they are held for minutes, and other requests have only
/// so many. Safe from any thread.
package final class PollTransport: Sendable {
  private struct State {
    var transport: Transport?
    var isClosed = false
  }

  private let options: TransportOptions
  private let observer: RequestObserver?
  private let state = Monitor(State())

  package init(_ options: TransportOptions, observer: RequestObserver? = nil) {
    self.observer = observer
    var options = options
    // A poll that is given up takes its connection along.
    options.usesHTTP2 = false
    // Nothing is sent while nothing happens. A connection that has died without a word is noticed after 15 + 9 × 3 seconds.
    options.probeSeconds = 15
    self.options = options
  }

  /// Throws `.misuse` when it was closed.
  func open() throws(StoreError) -> Transport {
    try state.withLock { (state) throws(StoreError) in
      guard !state.isClosed else { throw StoreError(.misuse, "The client is closed.") }
      if let transport = state.transport { return transport }
      do throws(TransportError) {
        let transport = try Transport(options, observer: observer)
        state.transport = transport
        return transport
      } catch {
        throw StoreError(error)
      }
    }
  }

  package func close() {
    let transport = state.withLock { state in
      defer { state = State(isClosed: true) }
      return state.transport
    }
    transport?.close()
  }
}
