package import KVJSON

/// User-to-user streams: each user owns a part of a stream, a substream. What is published there reaches
/// listeners as messages of the live service.
package protocol UserStreams: AnyObject, Sendable {
  /// The users that may publish to a substream and listen to it, as a JSON object.
  func acl(of stream: String, _ owner: String, call: Call) throws(StoreError) -> JSONValue

  func setACL(
    of stream: String, _ owner: String, acl: [UInt8], call: Call
  ) throws(StoreError)

  /// The ids of users whose substreams are known, as far as the backend tells them.
  func owners(of stream: String, _ call: Call) throws(StoreError) -> [JSONValue]

  /// Publishes a message once: it is not repeated when no answer comes.
  func send(
    _ message: [UInt8], to stream: String, owner: String, registration: LiveRegistration,
    call: Call
  ) throws(StoreError)
}
