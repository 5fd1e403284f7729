package import KVSync
package import KVTransport

extension Transport {
  /// Sends a request within the limits of a call. Throws what it means to the call that no answer came.
  package func exchange(_ request: HTTPRequest, for call: Call) throws(StoreError) -> HTTPResponse {
    do throws(TransportError) {
      return try exchange(request, until: call.deadline, cancellation: call.cancellation)
    } catch {
      throw StoreError(error)
    }
  }
}
