internal import CKVStore
internal import KVCallback
internal import KVClient
internal import KVSync

/// A backend whose requests are carried out by functions of the host, on threads of their own: a function that never
/// returns keeps none of ours, and one that closes the client does not wait for itself.
///
/// `@unchecked Sendable`: the context is the host's; it is only handed back, on the threads that the header promises.
/// It is freed when the last client and the registry have let go, and no function runs any more.
final class HostBackend: BackendHandler, @unchecked Sendable {
  private let functions: [BackendOperation: kv_backend_fn]
  private let cancelFunction: kv_backend_cancel_fn?
  private let context: UnsafeMutableRawPointer?
  private let free: kv_free_fn?
  private let requests: Runner
  /// Long polls, one for each client: so that they keep no request waiting.
  private let polls = Runner(maxThreads: 1_024)
  /// One thread: so that a request can be called off while all others are taken.
  private let cancels = Runner(maxThreads: 1)

  /// Takes the context over once it has been made: what fails before leaves it to the caller.
  init(
    _ functions: [BackendOperation: kv_backend_fn], cancel: kv_backend_cancel_fn?,
    _ context: UnsafeMutableRawPointer?, _ free: kv_free_fn?, requestsAtOnce: Int
  ) {
    self.functions = functions
    cancelFunction = cancel
    self.context = context
    self.free = free
    requests = Runner(maxThreads: requestsAtOnce)
  }

  deinit {
    requests.close()
    polls.close()
    cancels.close()
    free?(context)
  }

  func handles(_ operation: BackendOperation) -> Bool { functions[operation] != nil }

  func begin(_ operation: BackendOperation, number: UInt64, request json: [UInt8]) {
    do throws(StoreError) {
      try (operation == .live ? polls : requests).run { [self] in
        guard PendingRequests.isWaiting(number), let function = functions[operation] else { return }
        do throws(StoreError) {
          try lend(json) { function(context, number, $0.start, $0.length) }
        } catch {
          _ = PendingRequests.complete(number, failing: error)
        }
      }
    } catch {
      _ = PendingRequests.complete(number, failing: error)
    }
  }

  func cancel(_ number: UInt64) {
    guard let cancel = cancelFunction else { return }
    // Without a thread the host is not told: it finds out when it completes the request.
    try? cancels.run { [self] in cancel(context, number) }
  }
}
