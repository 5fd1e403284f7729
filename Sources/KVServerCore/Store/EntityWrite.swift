internal import KVBase

/// One write of an entity, as a client asks for it.
package enum EntityWrite: Sendable {
  /// Refused if there is an entity of this id.
  case create(EntityDraft)
  /// Creates the entity or replaces it.
  case put(EntityDraft, if: Precondition)
  case delete(id: String, if: Precondition, token: WriteToken? = nil)

  package var id: String {
    switch self {
    case .create(let draft), .put(let draft, _): draft.id
    case .delete(let id, _, _): id
    }
  }

  /// By which it is recognised when it is repeated.
  package var token: WriteToken? {
    switch self {
    case .create(let draft), .put(let draft, _): draft.token
    case .delete(_, _, let token): token
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
    }
  }

  /// What the collection's permissions have to allow, besides the entity's own.
  package var operation: Permissions.Action {
    switch self {
    case .create: .create
    case .put: .update
    case .delete: .delete
    }
  }

  package var isDelete: Bool { if case .delete = self { true } else { false } }

  /// The same, unless the collection's permissions forbid it whatever is stored: that needs no transaction.
  package func allowed(to viewer: Viewer) -> Result<EntityWrite, ServerError> {
    Result { () throws(ServerError) in
      _ = try viewer.rule(for: operation)
      return self
    }
  }
}
