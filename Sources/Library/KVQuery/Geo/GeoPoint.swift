internal import Glibc
internal import KVJSON

/// A place on Earth, in degrees: longitude first, as in `_geoloc`.
package struct GeoPoint: Sendable, Equatable {
  package var longitude: Double
  package var latitude: Double

  /// The radius of the Earth as a sphere, in metres.
  package static let earthRadius: Double = 6_371_000
  package static let metresPerMile = 1_609.344

  /// Makes a point; nil outside ±180 and ±90 degrees.
  package init?(longitude: Double, latitude: Double) {
    guard abs(longitude) <= 180, abs(latitude) <= 90 else { return nil }
    self.longitude = longitude
    self.latitude = latitude
  }

  /// Reads `[longitude, latitude]`.
  init?(_ value: JSONValue) {
    guard let numbers = value.arrayValue, numbers.count == 2,
      let longitude = numbers[0].doubleValue,
      let latitude = numbers[1].doubleValue
    else { return nil }
    self.init(longitude: longitude, latitude: latitude)
  }

  /// Reads `[longitude, latitude]` or a GeoJSON point.
  init?(_ value: RawValue) {
    var array = value
    if value.kind == .object {
      guard let coordinates = value.member(Array("coordinates".utf8)) else { return nil }
      array = coordinates
    }
    guard array.kind == .array else { return nil }
    var numbers: [Double] = []
    let isLong = array.containsElement { element, index in
      guard index < 2, element.kind == .number else { return true }
      numbers.append(element.number.double)
      return false
    }
    guard !isLong, numbers.count == 2 else { return nil }
    self.init(longitude: numbers[0], latitude: numbers[1])
  }

  var json: JSONValue { [.double(longitude), .double(latitude)] }

  /// The angle between two places as seen from the centre of the Earth, in radians; exact also for
  /// places that are close together (haversine).
  func angle(to other: GeoPoint) -> Double {
    let radians = Double.pi / 180
    let latitudes = sin((other.latitude - latitude) * radians / 2)
    let longitudes = sin((other.longitude - longitude) * radians / 2)
    let chord =
      latitudes * latitudes
      + cos(latitude * radians) * cos(other.latitude * radians) * longitudes * longitudes
    return 2 * asin(min(1, chord.squareRoot()))
  }
}

extension GeoPoint {
  /// Parts of the map that hold all places within an angle of this one, as seen from the centre of the Earth.
  func boxes(within radians: Double) -> [MapBox] {
    let reach = radians * 180 / .pi + 1e-6
    let (south, north) = (latitude - reach, latitude + reach)
    // With a pole inside, all longitudes are.
    guard south > -90, north < 90 else {
      return MapBox.parts(from: -180, to: 180, south: max(south, -90), north: min(north, 90))
    }
    let width = asin(min(1, sin(reach * .pi / 180) / cos(latitude * .pi / 180))) * 180 / .pi
    return MapBox.parts(
      from: longitude - width, to: longitude + width, south: south, north: north)
  }
}
