internal import KVJSON

/// A part of the Earth's surface.
package enum Region: Sendable, Equatable {
  /// Within an angle, in radians, of a place.
  case cap(GeoPoint, radians: Double)
  /// Within a distance in degrees of a place, on the flat map.
  case disc(GeoPoint, degrees: Double)
  /// A box from south-west to north-east. With the west east of the east, it crosses the date line.
  case box(southWest: GeoPoint, northEast: GeoPoint)
  /// Inside a ring, on the flat map, its border included.
  case polygon([GeoPoint])

  func contains(_ point: GeoPoint) -> Bool {
    switch self {
    case .cap(let center, let radians): return center.angle(to: point) <= radians
    case .disc(let center, let degrees):
      let (x, y) = (point.longitude - center.longitude, point.latitude - center.latitude)
      return (x * x + y * y).squareRoot() <= degrees
    case .box(let southWest, let northEast):
      guard
        (southWest.latitude...max(southWest.latitude, northEast.latitude)).contains(point.latitude)
      else { return false }
      let (west, east) = (southWest.longitude, northEast.longitude)
      return west <= east
        ? west <= point.longitude && point.longitude <= east
        : west <= point.longitude || point.longitude <= east
    case .polygon(let ring): return Ring(ring).contains(point)
    }
  }

  var json: JSONObject {
    switch self {
    case .cap(let center, let radians): ["$centerSphere": [center.json, .double(radians)]]
    case .disc(let center, let degrees): ["$center": [center.json, .double(degrees)]]
    case .box(let southWest, let northEast): ["$box": [southWest.json, northEast.json]]
    case .polygon(let ring): ["$polygon": .array(ring.map(\.json))]
    }
  }
}

/// A polygon on the flat map, where it may leave the map at the date line and come back at the other side.
///
/// An edge that spans more than 180 degrees of longitude is meant to go the short way, over the date
/// line, so its end is moved by 360 degrees. A ring that comes back 360 degrees from where it began has
/// gone around a pole: it is closed along that pole.
struct Ring {
  private var corners: [(x: Double, y: Double)] = []

  init(_ points: [GeoPoint]) {
    guard let first = points.first else { return }
    var x = first.longitude
    for point in points + [first] {
      let step = point.longitude - x
      x += step - (step / 360).rounded() * 360
      corners.append((x, point.latitude))
    }
    guard let start = corners.first, let end = corners.last, abs(end.x - start.x) > 180 else {
      return
    }
    let mean = points.reduce(0) { $0 + $1.latitude } / Double(points.count)
    let pole: Double = mean < 0 ? -90 : 90
    corners += [(end.x, pole), (start.x, pole), start]
  }

  /// The smallest box around it; it may reach over the date line.
  var bounds: MapBox {
    var bounds = MapBox(.infinity, -.infinity, south: .infinity, north: -.infinity)
    for (x, y) in corners {
      (bounds.west, bounds.east) = (min(bounds.west, x), max(bounds.east, x))
      (bounds.south, bounds.north) = (min(bounds.south, y), max(bounds.north, y))
    }
    return bounds
  }

  func contains(_ point: GeoPoint) -> Bool {
    // A ring spans at most 360 degrees on either side of where it began.
    [-720, -360, 0, 360, 720].contains { holds(point.longitude + $0, point.latitude) }
  }

  /// Counts the edges that a ray to the east crosses.
  private func holds(_ x: Double, _ y: Double) -> Bool {
    var isInside = false
    for (a, b) in zip(corners, corners.dropFirst()) {
      let turn = (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)
      let isBeside =
        min(a.x, b.x) <= x && x <= max(a.x, b.x) && min(a.y, b.y) <= y && y <= max(a.y, b.y)
      if turn == 0, isBeside { return true }
      if (a.y > y) != (b.y > y), x < a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y) {
        isInside.toggle()
      }
    }
    return isInside
  }
}

/// Close to a place; what is selected comes in the order of the distance, nearest first.
package struct Nearness: Sendable, Equatable {
  package var center: GeoPoint
  /// The largest distance in miles, as the backend has it; nil: any.
  package var maximum: Double?
  package var minimum: Double?

  func accepts(_ point: GeoPoint) -> Bool {
    let miles = center.angle(to: point) * GeoPoint.earthRadius / GeoPoint.metresPerMile
    return maximum.map { miles <= $0 } ?? true && minimum.map { miles >= $0 } ?? true
  }

  var json: JSONObject {
    var object: JSONObject = ["$nearSphere": center.json]
    if let maximum { object["$maxDistance"] = .double(maximum) }
    if let minimum { object["$minDistance"] = .double(minimum) }
    return object
  }
}
