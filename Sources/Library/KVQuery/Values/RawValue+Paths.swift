internal import KVJSON

extension RawValue {
  typealias Components = ArraySlice<Path.Component>

  /// Whether `test` holds for some of what is at a path, as MongoDB walks it.
  ///
  /// A name reaches into an object, and into each object in an array; a number also is an index of an
  /// array. What is missing is tested as nil. With `expanding`, an array at the end of the path is tested
  /// element by element and then as a whole; one reached by its index is not.
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
    case .array:
      return try anyElement(of: value, at: path, component: component, expanding: expanding, test)
    default: return try test(nil)
    }
  }

  private static func anyElement(
    of array: RawValue, at path: Components, component: Path.Component, expanding: Bool,
    _ test: (RawValue?) throws(QueryError) -> Bool
  ) throws(QueryError) -> Bool {
    let rest = path.dropFirst()
    return try array.containsElement { (element, index) throws(QueryError) in
      let kind = element.kind
      if kind == .object {
        let member = element.member(component.name)
        if try any(member, at: rest, expanding: expanding, test) { return true }
      }
      guard index == component.index else { return false }
      if rest.isEmpty { return try test(element) }
      guard kind == .object || kind == .array else { return false }
      return try any(element, at: rest, expanding: expanding, test)
    }
  }

  /// A value that `visit` finds at a path.
  enum Visited {
    case value(RawValue)
    /// An array without elements at the end of the path.
    case emptyArray
    case missing
  }

  /// Visits the values of a path by which entities are ordered, as MongoDB walks it: of an array at its end, the
  /// elements.
  ///
  /// A number is an index into an array; after the array's end, or if it is no number, it is the name of a member of
  /// each element. There is always something to visit, if only what is missing.
  static func visit(
    _ value: RawValue?, at path: RawValue.Components, _ body: (Visited) -> Void
  ) {
    guard let value else { return body(.missing) }
    guard let component = path.first else {
      guard value.kind == .array else { return body(.value(value)) }
      let isEmpty = !eachElement(of: value) { body(.value($0)) }
      return isEmpty ? body(.emptyArray) : ()
    }
    let rest = path.dropFirst()
    switch value.kind {
    case .object: visit(value.member(component.name), at: rest, body)
    case .array:
      if let element = component.index.flatMap({ value.element(at: $0) }) {
        return visit(element, at: rest, body)
      }
      let isEmpty = !eachElement(of: value) { element in
        visit(element.kind == .object ? element.member(component.name) : nil, at: rest, body)
      }
      if isEmpty { body(.missing) }
    default: body(.missing)
    }
  }

  /// Whether an array has elements.
  private static func eachElement(of array: RawValue, _ body: (RawValue) -> Void) -> Bool {
    var hasElements = false
    _ = array.containsElement { element, _ in
      hasElements = true
      body(element)
      return false
    }
    return hasElements
  }

  private func element(at index: Int) -> RawValue? {
    var found: RawValue?
    _ = containsElement { element, number in
      guard number == index else { return false }
      found = element
      return true
    }
    return found
  }
}
