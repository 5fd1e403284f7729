/// The statements on the messages of Live Service.
package enum MessageStatements<Piece: SQLPiece> {
  /// The time, the topic, the metadata and the payload of those of an app after a time, in their order.
  package static func list(app: Int64, after time: Int64 = .min) -> Piece {
    """
    SELECT time, topic, about, payload FROM live_message
    WHERE app = \(bind: app) AND time > \(bind: time) ORDER BY time
    """
  }

  /// Forgets those of an app up to a time.
  package static func forget(app: Int64, until time: Int64 = .max) -> Piece {
    "DELETE FROM live_message WHERE app = \(bind: app) AND time <= \(bind: time)"
  }
}
