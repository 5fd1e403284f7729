internal import KVSync

/// An event of a part of a stream: see `UserStream.listen`.
///
///     struct Line: Codable, Sendable { var text: String }
///     for await event in try client.stream("chat", of: Line.self).listen(to: "bob") {
///       switch event {
///       case .message(let line): print(line.text)
///       case .failed(let error): print(error)
///       default: break
///       }
///     }
public enum StreamEvent<Message: Codable & Sendable>: Sendable {
  /// The connection is ready. Every message from now on is received.
  case ready
  /// A message was received.
  case message(Message)
  /// Messages may have been missed. They are not stored anywhere.
  case missed
  /// The state of the connection has changed.
  case connection(LiveConnection)
  /// An error, such as a message that does not fit its type. Further events may follow.
  case failed(KVStoreError)

  /// Nil if a stream does not have this kind of event.
  init?(_ event: KVSync.LiveEvent) {
    switch event {
    case .ready: self = .ready
    case .missed: self = .missed
    case .failure(let error): self = .failed(KVStoreError(error))
    case .status(let status): self = .connection(LiveConnection(status))
    case .changed(.said(let message)):
      do throws(KVStoreError) {
        self = .message(try JSONDecoding.decode(Message.self, from: message))
      } catch {
        self = .failed(error)
      }
    case .changed: return nil
    }
  }

  var isLast: Bool { if case .connection(.disconnected) = self { true } else { false } }
}
