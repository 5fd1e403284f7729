extension Predicate {
  /// The nearness that entities are ordered by if no other order is asked for: the point that all of them have
  /// to be near to.
  var nearest: NearestPlace? {
    switch self {
    case .field(let path, let tests):
      for case .near(let nearness) in tests {
        return NearestPlace(path: path, center: nearness.center)
      }
      return nil
    case .and(let parts):
      for part in parts { if let found = part.nearest { return found } }
      return nil
    case .everything, .nothing, .or, .nor, .text, .comparison: return nil
    }
  }
}
