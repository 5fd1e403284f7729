internal import KVJSON

extension RawValue {
  typealias Components = ArraySlice<Path.Component>

  /// Whether `test` holds for some of what is at a path, as MongoDB walks it.
  ///
  /// A name reaches into an object, and into each object in an array; a number also is a place in an
  /// array. What is missing is tested as nil. With `expanding`, an array at the end of the path is tested
  /// element by element and then as a whole; one reached by its place is not.
  static func any(
    _ value: RawValue?, at path: Components, expanding: Bool,
    _ test: (RawValue?) throws(QueryError) -> Bool
  ) throws(QueryError) -> Bool {
    guard let value else { return try test(nil) }
    guard let component = path.first else {
      if expanding, value.kind == .array {
        let found = try value.containsElement { (element, _) throws(QueryError) in
          try test(element)
        }
        if found { return true }
      }
      return try test(value)
    }
    switch value.kind {
    case .object:
      return try any(value.member(component.name), at: path.dropFirst(), expanding: expanding, test)
    case .array: return try anyElement(of: value, at: path, component, expanding, test)
    default: return try test(nil)
    }
  }

  private static func anyElement(
    of array: RawValue, at path: Components, _ component: Path.Component, _ expanding: Bool,
    _ test: (RawValue?) throws(QueryError) -> Bool
  ) throws(QueryError) -> Bool {
    let rest = path.dropFirst()
    return try array.containsElement { (element, place) throws(QueryError) in
      let kind = element.kind
      if kind == .object {
        let member = element.member(component.name)
        if try any(member, at: rest, expanding: expanding, test) { return true }
      }
      guard place == component.index else { return false }
      if rest.isEmpty { return try test(element) }
      guard kind == .object || kind == .array else { return false }
      return try any(element, at: rest, expanding: expanding, test)
    }
  }
}
