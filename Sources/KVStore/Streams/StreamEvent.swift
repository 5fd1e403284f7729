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
  /// From now on every message comes.
  case ready
  case message(Message)
  /// Something may have been missed; it is kept nowhere.
  case missed
  case connection(LiveConnection)
  /// Something went wrong, such as a message that does not fit its type; more may follow.
  case failed(KVStoreError)

  /// Nil: nothing that a stream tells.
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
