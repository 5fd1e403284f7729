internal import KVBase
internal import KVJSON
package import KVSync

/// A backend whose requests are carried out by functions of the host: what was registered under a name.
///
/// Clients that were opened with it keep it alive.
package final class CallbackBackend: Sendable {
  package let name: String
  package let description: BackendDescription
  let handler: any BackendHandler

  package init(_ name: String, _ description: BackendDescription, handler: any BackendHandler) {
    self.name = name
    self.description = description
    self.handler = handler
  }

  /// The backend as one client has it.
  package var opened: Backend {
    var opened = Backend(name: name, remote: CallbackRemote(self))
    if handler.handles(.live) { opened.live = CallbackLive(self) }
    return opened
  }

  /// Carries out one request and waits for its answer: until the call's deadline, or until it is cancelled. A call that is
  /// cancelled already asks for nothing.
  func exchange(
    _ operation: BackendOperation, _ request: [UInt8], call: Call
  ) throws(StoreError) -> AnswerObject {
    guard !call.cancellation.isCancelled else {
      throw StoreError(.cancelled, "The call was cancelled.")
    }
    return try AnswerObject(begin(operation, request).wait(call))
  }

  /// Begins a request, for which the caller then waits.
  func begin(
    _ operation: BackendOperation, _ request: [UInt8]
  ) throws(StoreError) -> PendingRequest {
    guard handler.handles(operation) else {
      throw StoreError(
        .unsupported, "The backend \"\(name)\" does not support \(operation.rawValue).")
    }
    let pending = PendingRequests.open(of: handler, limit: description.maxAnswerBytes)
    handler.begin(operation, number: pending.number, request: request)
    return pending
  }
}
