internal import KVJSON

extension FilterParser {
  /// `$near` or `$nearSphere` with a place, and `$maxDistance` and `$minDistance`, in miles, beside it; or
  /// with `{"$geometry":…}`, a GeoJSON point, and distances, in metres, inside.
  static func nearness(
    _ member: JSONObject.Member, beside object: JSONObject, at trail: Trail
  ) throws(QueryDecodingError) -> Test {
    var (place, distances, perMile) = (member.value, object, 1.0)
    if let inner = member.value.objectValue, let geometry = inner["$geometry"] {
      (place, distances, perMile) = (
        geometry["coordinates"] ?? .null, inner, GeoPoint.metresPerMile
      )
    }
    guard let center = GeoPoint(place) else {
      throw QueryDecodingError("\(member.name) needs [longitude, latitude]", trail)
    }
    var nearness = Nearness(center: center)
    nearness.maximum = try distance("$maxDistance", in: distances, perMile: perMile, at: trail)
    nearness.minimum = try distance("$minDistance", in: distances, perMile: perMile, at: trail)
    return .near(nearness)
  }

  private static func distance(
    _ name: String, in object: JSONObject, perMile: Double, at trail: Trail
  ) throws(QueryDecodingError) -> Double? {
    guard let value = object[name] else { return nil }
    guard let distance = value.doubleValue, distance >= 0 else {
      throw QueryDecodingError("\(name) needs a number that is not negative", trail)
    }
    return distance / perMile
  }

  /// The region of `$geoWithin` or `$within`.
  static func region(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError) -> Region {
    guard let object = value.objectValue, object.count == 1, let shape = object.members.first else {
      throw QueryDecodingError(
        "$geoWithin needs one of $box, $polygon, $centerSphere, $center", trail)
    }
    let here = trail + [.member(shape.name)]
    let parts = shape.value.arrayValue ?? []
    switch shape.name {
    case "$centerSphere", "$center":
      guard parts.count == 2, let center = GeoPoint(parts[0]), let radius = parts[1].doubleValue,
        radius >= 0
      else { throw QueryDecodingError("\(shape.name) needs [[longitude, latitude], radius]", here) }
      return shape.name == "$center"
        ? .disc(center, degrees: radius) : .cap(center, radians: radius)
    case "$box":
      guard parts.count == 2, let southWest = GeoPoint(parts[0]),
        let northEast = GeoPoint(parts[1]),
        southWest.latitude <= northEast.latitude
      else { throw QueryDecodingError("$box needs [[west, south], [east, north]]", here) }
      return .box(southWest: southWest, northEast: northEast)
    case "$polygon":
      let ring = parts.compactMap { GeoPoint($0) }
      guard ring.count == parts.count, ring.count >= 3 else {
        throw QueryDecodingError("$polygon needs three or more [longitude, latitude]", here)
      }
      return .polygon(ring)
    default: throw QueryDecodingError("unknown shape \(shape.name)", here)
    }
  }
}

extension Region {
  /// The region that an argument of a format stands for: `{"$circle":{"center":[longitude,latitude],"radius":metres}}`,
  /// `{"$polygon":[…]}` or `{"$box":[…]}`; nil for any other value.
  init?(argument value: JSONValue) {
    guard let object = value.objectValue, object.count == 1, let shape = object.members.first else {
      return nil
    }
    if shape.name == "$circle" {
      guard let center = shape.value["center"].flatMap({ GeoPoint($0) }),
        let metres = shape.value["radius"]?.doubleValue, metres >= 0
      else { return nil }
      self = .cap(center, radians: metres / GeoPoint.earthRadius)
    } else if shape.name == "$polygon" || shape.name == "$box",
      let region = try? FilterParser.region(value, [])
    {
      self = region
    } else {
      return nil
    }
  }
}
