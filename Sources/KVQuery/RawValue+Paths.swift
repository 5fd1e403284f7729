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

  /// Every value at a path that counts as one: the elements of an array at the end of the path, none if it
  /// is empty. Nil for what is missing.
  static func visit(
    _ value: RawValue?, at path: RawValue.Components, _ body: (RawValue?) -> Void
  ) {
    guard let value else { return body(nil) }
    guard let component = path.first else {
      guard value.kind == .array else { return body(value) }
      return each(value) { element, _ in body(element) }
    }
    let rest = path.dropFirst()
    switch value.kind {
    case .object: visit(value.member(component.name), at: rest, body)
    case .array:
      var isEmpty = true
      each(value) { element, place in
        isEmpty = false
        if place == component.index {
          visit(element, at: rest, body)
        } else if component.index == nil {
          visit(element.kind == .object ? element.member(component.name) : nil, at: rest, body)
        }
      }
      if isEmpty { body(nil) }
    default: body(nil)
    }
  }

  private static func each(_ array: RawValue, _ body: (RawValue, Int) -> Void) {
    _ = array.containsElement { element, place in
      body(element, place)
      return false
    }
  }
}
