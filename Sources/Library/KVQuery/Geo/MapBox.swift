internal import KVJSON

/// A part of the map in degrees, without the date line in it.
package struct MapBox: Sendable, Equatable {
  package var west: Double
  package var east: Double
  package var south: Double
  package var north: Double

  /// The places that are at a path of an entity, all in one box; nil if there are none.
  package init?(of entity: UnsafeRawBufferPointer, at path: Path) {
    var points: [GeoPoint] = []
    _ = try? RawValue.any(RawValue(entity: entity), at: path.components[...], expanding: true) {
      if let point = $0.flatMap({ GeoPoint($0) }) { points.append(point) }
      return false
    }
    guard let first = points.first else { return nil }
    self.init(first.longitude, first.longitude, south: first.latitude, north: first.latitude)
    for point in points {
      (west, east) = (min(west, point.longitude), max(east, point.longitude))
      (south, north) = (min(south, point.latitude), max(north, point.latitude))
    }
  }

  init(_ west: Double, _ east: Double, south: Double, north: Double) {
    (self.west, self.east, self.south, self.north) = (west, east, south, north)
  }

  /// A part of the map that may reach over the date line, any number of times around the Earth, as parts that do
  /// not; a little larger, so that rounding loses nothing.
  static func parts(
    from west: Double, to east: Double, south: Double, north: Double
  ) -> [MapBox] {
    let margin = 1e-6
    let (south, north) = (south - margin, north + margin)
    guard (east - west).magnitude < 360 else {
      return [MapBox(-180, 180, south: south, north: north)]
    }
    return [-720.0, -360, 0, 360, 720].compactMap { turn in
      let part = MapBox(west - margin + turn, east + margin + turn, south: south, north: north)
      guard part.east >= -180, part.west <= 180 else { return nil }
      return MapBox(max(part.west, -180), min(part.east, 180), south: south, north: north)
    }
  }
}

extension Region {
  /// Parts of the map that hold all of the region.
  var boxes: [MapBox] {
    switch self {
    case .cap(let center, let radians): return center.boxes(within: radians)
    case .disc(let center, let degrees):
      let (x, y) = (center.longitude, center.latitude)
      // On the flat map: what lies over its edge is not on the other side.
      let (west, east) = (max(x - degrees, -180), min(x + degrees, 180))
      return MapBox.parts(from: west, to: east, south: y - degrees, north: y + degrees)
    case .box(let southWest, let northEast):
      let turn: Double = southWest.longitude <= northEast.longitude ? 0 : 360
      return MapBox.parts(
        from: southWest.longitude, to: northEast.longitude + turn, south: southWest.latitude,
        north: northEast.latitude)
    case .polygon(let ring):
      let bounds = Ring(ring).bounds
      return MapBox.parts(
        from: bounds.west, to: bounds.east, south: bounds.south, north: bounds.north)
    }
  }
}

extension Nearness {
  /// Parts of the map that hold all points within the distance; nil if any distance will do.
  var boxes: [MapBox]? {
    maximum.map { center.boxes(within: $0 * GeoPoint.metresPerMile / GeoPoint.earthRadius) }
  }
}
