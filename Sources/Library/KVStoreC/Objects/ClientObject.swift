internal import KVBase
internal import KVClient
internal import KVObjects
internal import KVSync

/// A client as C holds it: what is open on it, what runs on it, and where its callbacks go.
///
/// Safe from any thread. Closing goes from the outside in: nothing new begins, what runs is cancelled and
/// waited for, its callbacks are delivered, the handles are closed, and then the client itself.
final class ClientObject: HandleObject {
  static let kind = HandleKind.client

  private struct State {
    var isClosing = false
    var running: [ObjectIdentifier: RequestObject] = [:]
    /// The handles of stores, cursors and requests that closing the client closes.
    var children: Set<Handle> = []
    /// What closing the client ends.
    var subscriptions: [ObjectIdentifier: SubscriptionObject] = [:]
  }

  let core: Client
  let callbacks: CallbackQueue
  let log: LogSink
  let questions = ConflictQuestions()
  private let activity = Activity()
  /// Stops the blocking calls.
  let cancellation = Cancellation()
  private let state = Monitor(State())

  init(_ core: Client, callbacks: CallbackQueue, log: LogSink) {
    self.core = core
    self.callbacks = callbacks
    self.log = log
  }

  // MARK: Children

  /// Makes a handle that closing the client closes too.
  func adopt(_ child: some HandleObject) throws(StoreError) -> Handle {
    let handle = try child.open()
    let isAdopted = state.withLock { state in
      if !state.isClosing { state.children.insert(handle) }
      return !state.isClosing
    }
    guard isAdopted else {
      HandleTable.discard(handle)
      throw StoreError(.misuse, "The client is closed.")
    }
    return handle
  }

  /// The child was closed by itself.
  func disown(_ handle: Handle) { state.withLock { _ = $0.children.remove(handle) } }

  // MARK: Operations

  /// Runs something that is not an operation of its own, with the client kept open meanwhile.
  func during<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    try activity.enter()
    defer { activity.leave() }
    return try body()
  }

  /// Leaves a blocking call of this thread for as long as `body` runs: closing does not wait for it.
  func suspended<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    try activity.suspended(body)
  }

  /// Runs an operation on the calling thread. Of several answers it gives the last.
  func run(_ body: Operation.Body) throws(StoreError) -> Outcome {
    try during { () throws(StoreError) in
      try body(OperationContext(cancellation: cancellation, progress: Progress(), early: { _ in }))
        .value
    }
  }

  /// Starts an operation on a thread of the library. If it throws, nothing was started and nothing will
  /// be called.
  func start(
    _ operation: Operation, _ delivery: Delivery, handle out: HandleOutput
  ) throws(StoreError) {
    try activity.enter()
    do throws(StoreError) {
      if delivery.isWanted { try callbacks.prepare() }
      let request = RequestObject(client: self)
      // Filled in before the start, so that it is there when `done` runs.
      if out.isWanted { out.write(try adopt(request)) }
      register(request)
      let runner = operation.isLocal ? core.runners.local : core.runners.network
      try runner.run { [self] in
        carryOut(operation.body, for: request, delivery)
        unregister(request)
        activity.leave()
      }
    } catch {
      activity.leave()
      throw error
    }
  }

  private func carryOut(_ body: Operation.Body, for request: RequestObject, _ delivery: Delivery) {
    let running = OperationContext(cancellation: request.cancellation, progress: request.progress) {
      delivery.deliver(OperationResult(.success($0), isLocal: true, isFinal: false))
    }
    let answer: OperationResult
    do throws(StoreError) {
      let last = try body(running)
      answer = OperationResult(.success(last.value), isLocal: last.isLocal, isFinal: true)
    } catch {
      answer = OperationResult(.failure(error), isLocal: false, isFinal: true)
    }
    request.finish(delivery.takesEntities ? answer.withoutEntities : answer)
    delivery.deliver(answer)
  }

  private func register(_ request: RequestObject) {
    let isTooLate = state.withLock { state in
      state.running[ObjectIdentifier(request)] = request
      return state.isClosing
    }
    if isTooLate { request.cancellation.cancel() }
  }

  private func unregister(_ request: RequestObject) {
    state.withLock { _ = $0.running.removeValue(forKey: ObjectIdentifier(request)) }
  }

  // MARK: Subscriptions

  /// Opens a subscription that `begin` supplies, and gives its handle, if one is wanted. If it throws,
  /// nothing will be called any more and the callback is retired.
  func subscribe(
    _ callback: EventCallback, handle out: HandleOutput,
    _ begin: (SubscriptionObject) throws(StoreError) -> any EventSource
  ) throws(StoreError) {
    let subscription = SubscriptionObject(callback, client: self)
    do throws(StoreError) {
      try during { () throws(StoreError) in
        try callbacks.prepare()
        state.withLock { $0.subscriptions[ObjectIdentifier(subscription)] = subscription }
        // Filled in before anything is called.
        if out.isWanted { out.write(try adopt(subscription)) }
        subscription.attach(try begin(subscription))
      }
    } catch {
      out.discard()
      subscription.close()
      throw error
    }
  }

  /// The subscription was closed.
  func forget(_ subscription: SubscriptionObject) {
    state.withLock { _ = $0.subscriptions.removeValue(forKey: ObjectIdentifier(subscription)) }
  }

  /// Whether what calls back may be called on this thread: it is in a callback, or the host's own while
  /// only the host dispatches.
  var callbacksRunHere: Bool {
    if callbacks.isInside { return true }
    return callbacks.isPumped && !core.isOwnThread
  }

  // MARK: Closing

  /// Called once, when the handle was closed.
  func close() {
    activity.beginClosing()
    let running = state.withLock { state in
      state.isClosing = true
      return Array(state.running.values)
    }
    cancellation.cancel()
    for request in running { request.cancellation.cancel() }
    for child in state.withLock({ $0.children }) {
      // Calls of contexts wait for each other, so the context ends what it is waiting for.
      (try? ContextObject.borrow(child.pointer))?.core.interrupt()
    }
    activity.waitUntilOver()
    for subscription in state.withLock({ $0.subscriptions.values.map { $0 } }) {
      subscription.close()
    }
    core.log.set(level: 0, nil)
    log.set(nil)
    callbacks.close()
    let children = state.withLock { state in
      defer { state.children = [] }
      return state.children
    }
    for child in children { HandleTable.discard(child) }
    core.close()
  }
}
