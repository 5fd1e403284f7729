internal import KVBase
internal import KVCallback
internal import KVSync

/// Carries out the requests of a backend in tasks: a limited number at the same time, and long polls besides.
final class TaskBackend: BackendHandler {
  private struct Job {
    let operation: BackendOperation
    let number: UInt64
    let json: [UInt8]
  }

  private struct State {
    /// The running tasks, by the number of their request.
    var tasks: [UInt64: Task<Void, Never>] = [:]
    var running = 0
    var waiting = FIFO<Job>()
  }

  private let backend: any CustomBackend
  private let operations: Set<BackendRequest.Operation>
  private let requestsAtOnce: Int
  private let state = Monitor(State())

  init(_ backend: any CustomBackend, requestsAtOnce: Int) {
    self.backend = backend
    self.requestsAtOnce = requestsAtOnce
    operations = backend.operations
  }

  func handles(_ operation: BackendOperation) -> Bool { operations.contains(.init(operation)) }

  func begin(_ operation: BackendOperation, number: UInt64, request json: [UInt8]) {
    let job = Job(operation: operation, number: number, json: json)
    state.withLock { state in
      guard operation != .live else { return start(job, &state) }
      guard state.running < requestsAtOnce else { return state.waiting.append(job) }
      state.running += 1
      start(job, &state)
    }
  }

  func cancel(_ number: UInt64) {
    state.withLock { $0.tasks[number] }?.cancel()
  }

  private func start(_ job: Job, _ state: inout State) {
    state.tasks[job.number] = Task { [self] in
      // A request without a waiter is not started.
      if PendingRequests.isWaiting(job.number) { await carryOut(job) }
      finish(job)
    }
  }

  private func carryOut(_ job: Job) async {
    let request = BackendRequest(
      operation: .init(job.operation), json: String(decoding: job.json, as: UTF8.self))
    do {
      let answer = Array(try await backend.answer(request).json.utf8)
      _ = answer.withUnsafeBytes { PendingRequests.complete(job.number, with: $0) }
    } catch let failure as BackendFailure {
      _ = PendingRequests.complete(job.number, failing: failure.storeError)
    } catch {
      let failure = BackendFailure(.server, "The backend failed: \(error)")
      _ = PendingRequests.complete(job.number, failing: failure.storeError)
    }
  }

  private func finish(_ job: Job) {
    state.withLock { state in
      state.tasks[job.number] = nil
      guard job.operation != .live else { return }
      guard let next = state.waiting.popFirst() else {
        state.running -= 1
        return
      }
      start(next, &state)
    }
  }
}
