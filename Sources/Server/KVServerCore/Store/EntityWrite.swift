internal import KVBase

/// One write of an entity, as a client asks for it.
package enum EntityWrite: Sendable {
  /// Refused if there is an entity of this id.
  case create(EntityDraft)
  /// Creates the entity or replaces it.
  case put(EntityDraft, if: Precondition)
  case delete(id: String, if: Precondition, token: WriteToken? = nil)
  /// Changes an entity that is there by operators.
  case change(EntityChange)

  package var id: String {
    switch self {
    case .create(let draft), .put(let draft, _): draft.id
    case .delete(let id, _, _): id
    case .change(let change): change.id
    }
  }

  /// By which it is recognised when it is repeated.
  package var token: WriteToken? {
    switch self {
    case .create(let draft), .put(let draft, _): draft.token
    case .delete(_, _, let token): token
    case .change(let change): change.token
    }
  }

  /// The same write with a token.
  package func with(_ token: WriteToken?) -> EntityWrite {
    switch self {
    case .create(var draft):
      draft.token = token
      return .create(draft)
    case .put(var draft, let condition):
      draft.token = token
      return .put(draft, if: condition)
    case .delete(let id, let condition, _): return .delete(id: id, if: condition, token: token)
    case .change(var change):
      change.token = token
      return .change(change)
    }
  }

  /// What the collection's permissions have to allow, besides the entity's own.
  package var operation: Permissions.Action {
    switch self {
    case .create: .create
    case .put, .change: .update
    case .delete: .delete
    }
  }

  package var isDelete: Bool { if case .delete = self { true } else { false } }

  /// Whether there may be a new entity afterwards.
  package var mayCreate: Bool {
    switch self {
    case .create, .put: true
    case .delete, .change: false
    }
  }

  /// Whether its answer shows what others have written: then it needs the permission to read as well.
  package var reads: Bool { if case .change = self { true } else { false } }

  /// The same, unless the collection's permissions forbid it whatever is stored: that needs no transaction.
  package func allowed(to viewer: Viewer) -> Result<EntityWrite, ServerError> {
    Result { () throws(ServerError) in
      _ = try viewer.rule(for: operation)
      if reads { _ = try viewer.rule(for: .read) }
      return self
    }
  }
}
