package import KVBase
package import KVJSON
package import KVSync

/// User-to-user streams: each user owns a part of a stream, a substream. `owner` nil is the active
/// user.
extension Client {
  package func streamACL(
    _ stream: String, owner: String?, options: Options, cancellation: Cancellation
  ) throws(StoreError) -> JSONValue {
    try asking("read the rights of a stream", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let (remote, owner) = try substream(owner)
      return try renewing(call) { () throws(StoreError) in
        try remote.acl(of: stream, owner, call: call)
      }
    }
  }

  /// `acl`: `{"subscribe":[ids],"publish":[ids],"groups":{"subscribe":[ids],"publish":[ids]}}`, each of which may be left
  /// out. Throws `.invalid` for anything else in it.
  package func setStreamACL(
    _ stream: String, owner: String?, acl: JSONObject, options: Options,
    cancellation: Cancellation
  ) throws(StoreError) {
    try Self.checkStreamACL(acl, allowsGroups: true)
    try asking("set the rights of a stream", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let (remote, owner) = try substream(owner)
      try renewing(call) { () throws(StoreError) in
        try remote.setACL(of: stream, owner, acl: JSONValue.object(acl).bytes, call: call)
      }
    }
  }

  /// A misspelt name would give no right to any user, and be noticed late.
  private static func checkStreamACL(
    _ acl: JSONObject, allowsGroups: Bool
  ) throws(StoreError) {
    for member in acl.members {
      switch member.name {
      case "subscribe", "publish":
        guard let ids = member.value.arrayValue, ids.allSatisfy({ $0.stringValue != nil }) else {
          throw StoreError(
            .invalid, "The member \"\(member.name)\" of the ACL must be an array of ids.")
        }
      case "groups" where allowsGroups:
        guard !member.value.isNull else { continue }
        guard let groups = member.value.objectValue else {
          throw StoreError(.invalid, "The member \"groups\" of the ACL must be an object.")
        }
        try checkStreamACL(groups, allowsGroups: false)
      default:
        throw StoreError(.invalid, "An ACL of a stream has no member \"\(member.name)\".")
      }
    }
  }

  package func streamOwners(
    _ stream: String, options: Options, cancellation: Cancellation
  ) throws(StoreError) -> JSONValue {
    try asking("list the parts of a stream", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let remote = try streams()
      return .array(
        try renewing(call) { () throws(StoreError) in try remote.owners(of: stream, call) })
    }
  }

  /// Sends a message, once: what no answer comes for may have been told.
  package func send(
    _ message: [UInt8], to stream: String, owner: String?, options: Options,
    cancellation: Cancellation
  ) throws(StoreError) {
    try asking("send to a stream", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let remote = try streams()
      let registration = try hasLive().registration()
      let owner = try part(of: owner)
      try renewingOnce(call) { () throws(StoreError) in
        try remote.send(message, to: stream, owner: owner, registration: registration, call: call)
      }
    }
  }

  /// Tells what is said in a substream, on a thread of the library that must not be kept waiting.
  package func listen(
    to stream: String, _ owner: String?, _ receive: @escaping @Sendable (LiveEvent) -> Void
  ) throws(StoreError) -> LiveSubscription {
    try hasLive().subscribe(to: .substream(stream, of: try part(of: owner)), receive)
  }

  private func substream(_ owner: String?) throws(StoreError) -> (any UserStreams, String) {
    (try streams(), try part(of: owner))
  }

  private func streams() throws(StoreError) -> any UserStreams {
    let backend = try existing()
    guard let streams = backend.streams else { throw backend.lacks("user-to-user streams") }
    return streams
  }

  private func part(of owner: String?) throws(StoreError) -> String {
    if let owner { return owner }
    return try active().id
  }
}
