internal import KVBase
internal import KVSync

/// What is on its way to the backend from one file's collections: the same for all clients of this process
/// that have the file open, so that one push runs at a time. Other processes take turns with us.
final class SharedInFlight: Sendable {
  private static let all = Shared<SharedInFlight>()

  private let collections = Monitor<[RecordID: SendGate]>([:])

  private let turn: ProcessLock
  /// Which process pushes by itself for all.
  let election: ProcessLock

  private init(path: String) {
    turn = ProcessLock(path: path + ".lock")
    election = ProcessLock(path: path + ".push.lock")
  }

  /// That of the file at a path.
  static func of(path: String) -> SharedInFlight {
    all.of(path: path) { SharedInFlight(path: path) }
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
