internal import KVBase
package import KVJSON
package import KVSync
internal import KVTransport

/// User-to-user streams: rights at the backend, messages at the origin of Live Service.
extension KinveyLive: UserStreams {
  /// Returns the stream's access list: who may publish and listen.
  package func acl(
    of stream: String, _ owner: String, call: Call
  ) throws(StoreError) -> JSONValue {
    let url = try service.endpoint.url(.streams, stream, id: owner)
    return try service.exchange(
      "GET", url, as: try service.userCredentials(), for: .list, call: call
    )
    .object(with: "subscribe")
  }

  package func setACL(
    of stream: String, _ owner: String, acl: [UInt8], call: Call
  ) throws(StoreError) {
    let url = try service.endpoint.url(.streams, stream, id: owner)
    try service.exchange(
      "PUT", url, body: .bytes(acl), as: try service.userCredentials(), for: .list, call: call
    )
    .acknowledged()
  }

  /// The ids of users whose substreams are known, as far as the backend tells them.
  package func owners(of stream: String, _ call: Call) throws(StoreError) -> [JSONValue] {
    let url = service.endpoint.url(.streams, [stream, "_substreams"])
    let answer = try service.exchange(
      "GET", url, as: try service.userCredentials(), for: .list, call: call)
    guard let list = try answer.json().arrayValue else {
      throw KinveyErrors.unusable(answer.head, "The backend's answer is not a list of substreams.")
    }
    return list.compactMap { $0["_id"] ?? ($0.stringValue == nil ? nil : $0) }
  }

  /// Publishes a message once: it is not repeated when no answer comes. A channel that is refused is asked for
  /// anew, once.
  package func send(
    _ message: [UInt8], to stream: String, owner: String, registration: LiveRegistration,
    call: Call
  ) throws(StoreError) {
    let topic = LiveTopic.substream(stream, of: owner)
    if let known = channels.withLock({ $0[topic] }) {
      if try publish(message, on: known, as: registration, call) == nil { return }
    }
    let channel = try channel(of: stream, owner, call)
    channels.withLock { $0[topic] = channel }
    guard let refused = try publish(message, on: channel, as: registration, call) else { return }
    channels.withLock { $0[topic] = nil }
    throw refused
  }

  private func channel(
    of stream: String, _ owner: String, _ call: Call
  ) throws(StoreError) -> String {
    let url = service.endpoint.url(.streams, [stream, owner, "publish"])
    let answer = try service.exchange(
      "POST", url, body: .bytes(Array("{}".utf8)), as: try service.userCredentials(), call: call)
    guard let channel = try answer.json()["substreamChannelName"]?.stringValue else {
      throw KinveyErrors.unusable(answer.head, "The backend's answer has no channel.")
    }
    return channel
  }

  /// Publishes with a POST, which no transport repeats by itself. Returns the error of a refusal.
  private func publish(
    _ message: [UInt8], on channel: String, as registration: LiveRegistration, _ call: Call
  ) throws(StoreError) -> StoreError? {
    guard case .session(let token) = try service.userCredentials() else {
      throw StoreError(.noUser, "No user is logged in.")
    }
    let rights = try LiveRights(registration)
    let names = [rights.publishKey, rights.subscribeKey, "0", channel, "0"]
    let path = "publish/" + names.map { PercentEncoding.segment($0) }.joined(separator: "/")
    let answer = try fetch(rights, path, query: [], token: token, body: message, call: call)
    if try answer.isPubNubSent() { return nil }
    guard try answer.pubNubRefusal() != nil else { throw foreignAnswer(answer, hiding: token) }
    return refusal(answer, "The user may not publish to this stream.")
  }
}
