internal import KVBase
internal import KVSync

/// The send gates of one file's collections: the same for all clients of this process that have the file open, so that
/// one push runs at a time. Other processes take turns with us.
final class SharedSendGates: Sendable {
  private static let all = Shared<SharedSendGates>()

  private let collections = Monitor<[RecordID: SendGate]>([:])

  private let turn: ProcessLock
  /// Elects the process that pushes automatically for all.
  let election: ProcessLock

  private init(path: String) {
    turn = ProcessLock(path: path + ".lock")
    election = ProcessLock(path: path + ".push.lock")
  }

  /// The gates of the file at a path.
  static func of(path: String) -> SharedSendGates {
    all.of(path: path) { SharedSendGates(path: path) }
  }

  func of(_ collection: String) -> SendGate {
    let collection = RecordID(collection)
    return collections.withLock { collections in
      if let known = collections[collection] { return known }
      let new = SendGate(turn: turn)
      collections[collection] = new
      return new
    }
  }
}
