/// The place that entities are to be near to, and where theirs is.
struct NearestPlace: Sendable {
  let path: Path
  let center: GeoPoint

  /// The angle to the nearest place at the path, as seen from the centre of the Earth, in radians; infinite without one.
  func angle(to entity: RawValue?) -> Double {
    var smallest = Double.infinity
    _ = try? RawValue.any(entity, at: path.components[...], expanding: true) { value in
      if let point = value.flatMap({ GeoPoint($0) }) {
        smallest = min(smallest, center.angle(to: point))
      }
      return false
    }
    return smallest
  }
}
