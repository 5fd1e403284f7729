internal import KVBase
internal import KVHTTP
internal import KVSync
internal import KVTransport

extension KinveyRemote {
  /// Why a body is not read to its end.
  private enum Stop: Error {
    case receiver(StoreError)
    /// The body of an error is longer than any error should be.
    case longError(HTTPHead)
  }

  /// Reads a body in pieces, each with the head of the answer. The body of an error goes into the error instead. `headers`: of this
  /// request alone. `isCollated`: it has an order by language.
  func stream(
    _ url: String, _ call: Call, headers more: [HTTPHeader] = [], isCollated: Bool = false,
    receive: (HTTPHead, UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> HTTPHead {
    let headers = try service.headers(try service.userOrAppCredentials(), call)
    var request = service.request("GET", url, headers: headers)
    request.headers += more
    if call.counted != nil { request.headers.append(.init("X-Kinvey-Include-Items-Count", "true")) }
    var hasCount = false
    var errorBody: [UInt8] = []
    let head: HTTPHead
    do throws(ExchangeFailure<Stop>) {
      head = try service.transport.stream(
        request, until: call.deadline, cancellation: call.cancellation
      ) {
        (head, piece) throws(Stop) in
        guard head.isSuccess else {
          errorBody += piece
          guard errorBody.count <= KinveyErrors.maxBytes else { throw .longError(head) }
          return
        }
        if !hasCount, let count = head["X-Kinvey-Items-Count"].flatMap({ Int($0) }) {
          call.counted?.expect(count)
        }
        hasCount = true
        do throws(StoreError) {
          try service.check(head)
          if isCollated { try service.checkOrder(of: head) }
        } catch {
          throw .receiver(error)
        }
        call.progress.add(piece.count, of: head.bodyBytes)
        do throws(StoreError) { try receive(head, piece) } catch { throw .receiver(error) }
      }
    } catch {
      switch error {
      case .transport(let error): throw StoreError(error)
      case .receiver(.receiver(let error)): throw error
      case .receiver(.longError(let head)):
        throw KinveyErrors.error(head, [], hiding: headers.secrets)
      }
    }
    service.extensions.observe(head)
    if isCollated { try service.checkOrder(of: head) }
    guard head.isSuccess else {
      let error = KinveyErrors.error(head, errorBody, hiding: headers.secrets)
      // Business logic may forbid counts of a collection; the number is for the progress only.
      guard error.kind == .unsupported, call.counted != nil else { throw error }
      var uncounted = call
      uncounted.counted = nil
      return try stream(url, uncounted, headers: more, isCollated: isCollated, receive: receive)
    }
    try service.check(head)
    return head
  }
}

extension Progress {
  /// Counts bytes of one body; the total grows with what is known.
  fileprivate func add(_ count: Int, of total: Int?) {
    update { snapshot in
      snapshot.bytesDone &+= UInt64(count)
      if let total, total > 0 { snapshot.bytesTotal = max(snapshot.bytesTotal, UInt64(total)) }
    }
  }
}
