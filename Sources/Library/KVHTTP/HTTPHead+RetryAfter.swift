internal import KVBase
package import KVTransport

extension HTTPHead {
  /// `Retry-After` in seconds; a moment is taken by the backend's own clock, if it tells that.
  package var retryAfter: Double? {
    guard let text = self["Retry-After"] else { return nil }
    if let seconds = UInt32(text) { return Double(seconds) }
    guard let moment = Timestamp(http: text) else { return nil }
    let now = self["Date"].flatMap { Timestamp(http: $0) } ?? .now()
    return Double(max(0, moment.milliseconds - now.milliseconds)) / 1000
  }
}
