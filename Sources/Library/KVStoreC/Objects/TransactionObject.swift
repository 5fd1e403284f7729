internal import KVClient
internal import KVJSON
internal import KVSync

/// A transaction as C holds it. Safe from any thread.
final class TransactionObject: HandleObject {
  static let kind = HandleKind.transaction

  let client: ClientObject
  let core: Transaction

  init(_ core: Transaction, client: ClientObject) {
    self.core = core
    self.client = client
  }
}
