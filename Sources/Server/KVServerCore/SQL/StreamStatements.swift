internal import KVJSON

/// The statements on the access lists of substreams, as JSON texts.
package enum StreamStatements<Piece: SQLPiece> {
  package static func acl(of stream: LiveStream, app: Int64) -> Piece {
    """
    SELECT acl FROM stream
    WHERE app = \(bind: app) AND name = \(bind: stream.name) AND owner = \(bind: stream.owner)
    """
  }

  /// The owners of all substreams of a stream, and the lists.
  package static func acls(of name: String, app: Int64) -> Piece {
    """
    SELECT owner, acl FROM stream WHERE app = \(bind: app) AND name = \(bind: name) ORDER BY owner
    """
  }

  /// How many other streams its owner has.
  package static func countOthers(than stream: LiveStream, app: Int64) -> Piece {
    """
    SELECT count(*) FROM stream
    WHERE app = \(bind: app) AND name <> \(bind: stream.name) AND owner = \(bind: stream.owner)
    """
  }

  package static func set(_ acl: LiveStreamACL, of stream: LiveStream, app: Int64) -> Piece {
    """
    INSERT INTO stream (app, name, owner, acl)
    VALUES (\(bind: app), \(bind: stream.name), \(bind: stream.owner), \(bind: acl.json.text))
    ON CONFLICT (app, name, owner) DO UPDATE SET acl = excluded.acl
    """
  }

  package static func removeAll(of owner: String, app: Int64) -> Piece {
    "DELETE FROM stream WHERE app = \(bind: app) AND owner = \(bind: owner)"
  }
}
