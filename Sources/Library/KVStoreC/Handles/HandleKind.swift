internal import KVSync

/// What a handle stands for. The numbers are part of each handle, 4 bits of it.
enum HandleKind: UInt64, CaseIterable {
  case client = 1
  case store = 2
  case query = 3
  case cursor = 4
  case request = 5
  case error = 6
  case subscription = 7
  case transaction = 8
  case results = 9
  case context = 10

  /// The name in `kv_live_objects` and in messages.
  var name: String {
    switch self {
    case .client: "client"
    case .store: "store"
    case .query: "query"
    case .cursor: "cursor"
    case .request: "request"
    case .error: "error"
    case .subscription: "subscription"
    case .transaction: "transaction"
    case .results: "results"
    case .context: "context"
    }
  }
}

/// An object that C holds by a handle.
protocol HandleObject: AnyObject, Sendable {
  static var kind: HandleKind { get }
}

extension HandleObject {
  /// The object of a handle, kept alive for as long as the caller keeps it.
  static func borrow(_ handle: OpaquePointer?) throws(StoreError) -> Self {
    let object = try HandleTable.object(Handle(handle), of: kind)
    // The kind was checked, and each kind has one final class.
    return unsafeDowncast(object, to: Self.self)
  }

  /// Closes a handle: from now on it gives `KV_MISUSE`. Exactly one of several callers succeeds.
  static func close(_ handle: OpaquePointer?) throws(StoreError) -> Self {
    unsafeDowncast(try HandleTable.close(Handle(handle), of: kind), to: Self.self)
  }

  /// Makes the handle by which C holds this object; the handle keeps the object alive.
  func open() throws(StoreError) -> Handle {
    guard let handle = HandleTable.open(self, as: Self.kind) else {
      throw StoreError(.internal, "There are too many open handles.")
    }
    return handle
  }
}
