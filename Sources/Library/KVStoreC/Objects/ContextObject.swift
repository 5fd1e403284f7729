internal import KVObjects
internal import KVSync

/// A context as C holds it. Safe from any thread.
final class ContextObject: HandleObject {
  static let kind = HandleKind.context

  let client: ClientObject
  let core: ObjectContext

  init(_ core: ObjectContext, client: ClientObject) {
    self.core = core
    self.client = client
  }

  deinit { core.close() }
}
