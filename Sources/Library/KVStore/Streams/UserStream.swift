internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// Messages between users, of any `Codable` type with up to 32 KB of JSON. They are not stored. See
/// `KVStoreClient.stream`.
///
///     struct Line: Codable, Sendable { var text: String }
///     try await client.registerForLiveData()
///     let chat = client.stream("chat", of: Line.self)
///     try await chat.setACL(StreamACL(subscribe: ["bob"], publish: ["bob"]))
///     for await event in try chat.listen() {
///       if case .message(let line) = event { print(line.text) }
///     }
///
/// Each user owns a part of a stream and decides who else may listen to it and send to it. `user` is the id of the
/// owner of the part; nil: the active user. Call `KVStoreClient.registerForLiveData` before sending and listening.
public struct UserStream<Message: Codable & Sendable>: Sendable {
  /// The name of the stream.
  public let name: String
  private let client: KVStoreClient

  init(_ name: String, _ client: KVStoreClient) {
    self.name = name
    self.client = client
  }

  /// Sends a message to the current subscribers of a part. The request is sent only once: after `.network` the message
  /// may have been delivered or not.
  public func send(
    _ message: Message, to user: String? = nil, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    let bytes = try JSONEncoding.value(of: message).bytes
    try await client.asking(options) { [name] (core, options, cancellation) throws(StoreError) in
      try core.send(bytes, to: name, owner: user, options: options, cancellation: cancellation)
    }
  }

  /// Returns the messages in a part from now on. Throws `.misuse` if the client is not registered for live data.
  public func listen(
    to user: String? = nil
  ) throws(KVStoreError) -> EventSequence<StreamEvent<Message>> {
    let buffer = EventBuffer<StreamEvent<Message>>(missed: .missed)
    let subscription = try KVStoreError.mapping { () throws(StoreError) in
      try client.core.listen(to: name, user) { [weak buffer] event in
        guard let buffer, let event = StreamEvent<Message>(event) else { return }
        buffer.send(event, isLast: event.isLast)
      }
    }
    return EventSequence(buffer, of: client) { subscription.end() }
  }

  /// Reads the access list of a part.
  public func acl(
    of user: String? = nil, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> StreamACL {
    let json = try await client.asking(options) {
      [name] (core, options, cancellation) throws(StoreError) in
      try core.streamACL(name, owner: user, options: options, cancellation: cancellation)
    }
    return try JSONDecoding.decode(StreamACL.self, from: json)
  }

  /// Replaces the access list of a part. Users who lose the right to listen receive nothing more.
  public func setACL(
    _ acl: StreamACL, of user: String? = nil, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    guard let object = try JSONEncoding.value(of: acl).objectValue else { return }
    try await client.asking(options) { [name] (core, options, cancellation) throws(StoreError) in
      try core.setStreamACL(
        name, owner: user, acl: object, options: options, cancellation: cancellation)
    }
  }

  /// Lists the ids of the users whose parts the active user may listen to or send to.
  public func owners(options: CallOptions = CallOptions()) async throws(KVStoreError) -> [String] {
    let json = try await client.asking(options) {
      [name] (core, options, cancellation) throws(StoreError) in
      try core.streamOwners(name, options: options, cancellation: cancellation)
    }
    return try JSONDecoding.decode([String].self, from: json)
  }
}

extension KVStoreClient {
  /// Returns a stream of messages between users. No request is made.
  ///
  ///     struct Line: Codable, Sendable { var text: String }
  ///     let chat = client.stream("chat", of: Line.self)
  ///     try await chat.send(Line(text: "Hello!"), to: "bob")
  public func stream<Message: Codable & Sendable>(
    _ name: String, of message: Message.Type
  ) -> UserStream<Message> { UserStream(name, self) }
}
