internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// Messages from user to user, which are kept nowhere: any `Codable`, by JSON of up to 32 KB. `KVStoreClient.stream` gives it.
///
///     struct Line: Codable, Sendable { var text: String }
///     try await client.registerForLiveData()
///     let chat = client.stream("chat", of: Line.self)
///     try await chat.setACL(StreamACL(subscribe: ["bob"], publish: ["bob"]))
///     for await event in try chat.listen() {
///       if case .message(let line) = event { print(line.text) }
///     }
///
/// Each user owns a part of a stream, and says who else may listen to it and send to it. `user` is the id of the owner of
/// the part that is meant; nil: the active user. `KVStoreClient.registerForLiveData` comes before sending and listening.
public struct UserStream<Message: Codable & Sendable>: Sendable {
  public let name: String
  private let client: KVStoreClient

  init(_ name: String, _ client: KVStoreClient) {
    self.name = name
    self.client = client
  }

  /// Sends a message to the present subscribers of a part. It is sent once: after `.network` it may have been heard or not.
  public func send(
    _ message: Message, to user: String? = nil, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    let bytes = try JSONEncoding.value(of: message).bytes
    try await client.asking(options) { [name] (core, options, cancellation) throws(StoreError) in
      try core.send(bytes, to: name, owner: user, options: options, cancellation: cancellation)
    }
  }

  /// What is said in a part, from the moment of the call on. Throws `.misuse` before the client was registered.
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

  /// Who else may listen and send, as the owner has said.
  public func acl(
    of user: String? = nil, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> StreamACL {
    let json = try await client.asking(options) {
      [name] (core, options, cancellation) throws(StoreError) in
      try core.streamACL(name, owner: user, options: options, cancellation: cancellation)
    }
    return try JSONDecoding.decode(StreamACL.self, from: json)
  }

  /// Says who else may listen and send; who may not any more does not from now on.
  public func setACL(
    _ acl: StreamACL, of user: String? = nil, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    guard let object = try JSONEncoding.value(of: acl).objectValue else { return }
    try await client.asking(options) { [name] (core, options, cancellation) throws(StoreError) in
      try core.setStreamACL(
        name, owner: user, acl: object, options: options, cancellation: cancellation)
    }
  }

  /// The ids of the users whose parts the active user may listen or send to.
  public func owners(options: CallOptions = CallOptions()) async throws(KVStoreError) -> [String] {
    let json = try await client.asking(options) {
      [name] (core, options, cancellation) throws(StoreError) in
      try core.streamOwners(name, options: options, cancellation: cancellation)
    }
    return try JSONDecoding.decode([String].self, from: json)
  }
}

extension KVStoreClient {
  /// A stream of messages from user to user. Nothing is asked of anybody yet.
  ///
  ///     struct Line: Codable, Sendable { var text: String }
  ///     let chat = client.stream("chat", of: Line.self)
  ///     try await chat.send(Line(text: "Hello!"), to: "bob")
  public func stream<Message: Codable & Sendable>(
    _ name: String, of message: Message.Type
  ) -> UserStream<Message> { UserStream(name, self) }
}
