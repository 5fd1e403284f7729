/// What the local changes of an entity mean for its removal.
enum LocalWrite: Int64 {
  /// None of them was ever sent, or it is deleted already: what may still arrive was noted then.
  case none = 0
  /// A create that no backend can have seen: it is dropped, and nothing takes its place.
  case unsentCreate = 1
  /// A create or an update that may have arrived, or may still arrive.
  case mayBeSent = 2
}
