package import KVBase
package import KVJSON

/// What `_kmd` says of a user besides the times of the entity: the state, the last login, what is known of the
/// address.
package struct UserMetadata: Sendable {
  package private(set) var members: JSONObject

  /// Reads a stored user.
  package init(of body: [UInt8]) {
    members = (try? JSONValue(parsing: body))?["_kmd"]?.objectValue ?? JSONObject()
    members["ect"] = nil
    members["lmt"] = nil
  }

  package subscript(_ name: String) -> JSONValue? {
    get { members[name] }
    set { members[name] = newValue }
  }
}

/// What happens to a user besides changes of the entity.
package enum UserEvent: Sendable {
  case login
  /// The address, if there is one, is to be verified.
  case verification
  case disabling
  case restoring

  /// Changes `_kmd` of a stored user; false: there is nothing to change.
  fileprivate func apply(
    to metadata: inout UserMetadata, of body: [UInt8], at now: Timestamp
  ) -> Bool {
    let time = JSONValue.string(now.description)
    switch self {
    case .login: metadata["llt"] = time
    case .disabling: metadata["status"] = ["val": "disabled", "lastChange": time]
    case .restoring: metadata["status"] = nil
    case .verification:
      guard let address = (try? JSONValue(parsing: body))?["email"]?.stringValue else {
        return false
      }
      metadata["emailVerification"] = [
        "status": "sent", "lastStateChangeAt": time, "emailAddress": .string(address),
      ]
    }
    return true
  }
}

extension EntityDraft {
  /// A stored user, to be written again after an event. Nil: there is nothing to write, or the entity is damaged.
  package init?(_ id: String, stored: StoredVersion, after event: UserEvent, at now: Timestamp) {
    var metadata = UserMetadata(of: stored.body)
    guard stored.isIntact, event.apply(to: &metadata, of: stored.body, at: now) else { return nil }
    let draft = stored.body.withUnsafeBytes { bytes -> EntityDraft? in
      guard let outline = try? EntityScanner.outline(of: bytes) else { return nil }
      return try? EntityDraft(stored: bytes, outline, id: id)
    }
    guard let draft else { return nil }
    self = draft
    self.metadata = metadata.members
  }

  /// The body of a stored user after an event that does not change the entity: its times and its access list stay.
  package func body(keeping stored: StoredVersion) -> [UInt8] {
    body(ACL(of: stored.body), created: stored.created, modified: stored.modified)
  }
}
