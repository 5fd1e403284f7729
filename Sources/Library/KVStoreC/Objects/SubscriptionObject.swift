internal import CKVStore
internal import Glibc
internal import KVBase
internal import KVClient
internal import KVSync

/// The source of a subscription's events, which is told once when the subscription has ended.
protocol EventSource: AnyObject, Sendable {
  /// Stops what feeds the subscription. Must not wait for callbacks.
  func end()

  /// The same, and waits until the source has noticed it; throws if the source refuses.
  func end(_ options: Options, _ cancellation: Cancellation) throws(StoreError)
}

extension EventSource {
  /// Ends the subscription. One that only local changes feed needs no request.
  func end(_ options: Options, _ cancellation: Cancellation) throws(StoreError) { end() }
}

/// The event that a subscriber receives: JSON, or an error.
typealias Event = Result<[UInt8], StoreError>

/// A function of the host that keeps being called until it is closed. Safe from any thread.
///
/// Events run in the client's callback queue, so one at a time and in order. Closing has two cases:
///
/// 1. from inside a callback of this very subscription: it is the last, its context is freed after it;
/// 2. from anywhere else: waits for the callback that is running, frees the context, returns.
final class SubscriptionObject: HandleObject {
  static let kind = HandleKind.subscription

  private struct State {
    var isClosed = false
    /// The thread that the host's function is running on.
    var runner: pthread_t?
    var isRetired = false
    var source: (any EventSource)?
  }

  let client: ClientObject
  private let callback: EventCallback
  private let state = Monitor(State())

  /// The callback is retired by closing; a failure to hand the subscription on closes it too.
  init(_ callback: EventCallback, client: ClientObject) {
    self.callback = callback
    self.client = client
  }

  /// Names what feeds this; it is ended at once if the subscription was closed meanwhile.
  func attach(_ source: any EventSource) {
    let isTooLate = state.withLockNotifyingAll { state in
      if !state.isClosed { state.source = source }
      return state.isClosed
    }
    if isTooLate { source.end() }
  }

  /// Queues an event that is made when its turn comes, so that what changes meanwhile can be part of it;
  /// nil: there is nothing to deliver after all. An error goes to the error callback. Returns at once; false
  /// if the subscription has ended.
  @discardableResult
  func deliver(
    as kind: EventHandlers.Kind = .next, _ event: @escaping @Sendable () -> Event?
  ) -> Bool {
    guard !state.withLock({ $0.isClosed }) else { return false }
    return client.callbacks.add { [self] in
      guard !state.withLock({ $0.isClosed }), let event = event() else { return }
      call(event, as: kind)
    }
  }

  /// Calls the host, unless it has been closed.
  private func call(_ event: Event, as kind: EventHandlers.Kind) {
    let isOpen = state.withLockNotifyingAll { state in
      if !state.isClosed { state.runner = pthread_self() }
      return !state.isClosed
    }
    guard isOpen else { return }
    call(with: event, as: kind)
    let isLast = state.withLockNotifyingAll { state in
      state.runner = nil
      return state.isClosed
    }
    if isLast { retire() }
  }

  /// Ends it: when this returns, no callback is running, except the one that it is called from, and none
  /// will come.
  func close() { end(isInside: isInside) { $0.end() } }

  /// The same, and waits until the source has noticed it. Throws the source's error if it refuses.
  /// `isInside`: it was asked for inside the subscription's own callback, which may wait for this.
  func end(
    _ options: Options, _ cancellation: Cancellation, isInside: Bool
  ) throws(StoreError) {
    try end(isInside: isInside) { (source) throws(StoreError) in
      try source.end(options, cancellation)
    }
  }

  /// Whether this thread is inside the host's function.
  var isInside: Bool { state.withLock { $0.runner == pthread_self() } }

  private func end<Failure: Error>(
    isInside: Bool, _ endSource: (any EventSource) throws(Failure) -> Void
  ) throws(Failure) {
    let source = state.withLockNotifyingAll { state in
      state.isClosed = true
      defer { state.source = nil }
      return state.source
    }
    defer {
      client.forget(self)
      if !isInside {
        _ = state.wait { $0.runner == nil ? true : nil }
        retire()
      }
    }
    if let source { try endSource(source) }
  }

  private func retire() {
    let isFirst = state.withLockNotifyingAll { state in
      defer { state.isRetired = true }
      return !state.isRetired
    }
    if isFirst { callback.retire() }
  }

  /// Calls the host. What the event lends lives until it returns.
  private func call(with event: Event, as kind: EventHandlers.Kind) {
    var lent = kv_event()
    lent.size = UInt32(MemoryLayout<kv_event>.size)
    switch event {
    case .failure(let error):
      guard let receive = callback.function[.failure] else { return }
      lend(error) {
        (lent.status, lent.error) = (error.kind.code, $0)
        receive(callback.context, &lent)
      }
    case .success(let text):
      guard let receive = callback.function[kind] else { return }
      do throws(StoreError) {
        try lend(text) {
          (lent.json, lent.length) = ($0.start, $0.length)
          receive(callback.context, &lent)
        }
      } catch {
        call(with: .failure(error), as: kind)
      }
    }
  }
}
