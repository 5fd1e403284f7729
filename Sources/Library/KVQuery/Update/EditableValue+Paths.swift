extension EditableValue {
  /// The number of elements that a path to an index after the end of an array may add, as nulls.
  static let maximumPadding = 100_000

  /// A change of what is at the end of a path. Nil stands for "nothing there", before and after.
  typealias Change = (inout EditableValue?) throws(UpdateError) -> Void

  /// Changes what is at a path.
  ///
  /// A name leads into an object, a number also to an element of an array. With `creating`, objects are
  /// made on the way where nothing is, and an array is filled up with nulls; without, nothing happens where
  /// the path leads nowhere. An element that is taken away leaves null.
  mutating func update(
    at path: ArraySlice<Path.Component>, creating: Bool, _ change: Change
  ) throws(UpdateError) {
    guard let component = path.first else { return }
    if var members {
      self = .null
      try Self.update(
        &members, at: component, rest: path.dropFirst(), creating: creating, with: change)
      self = .object(members)
    } else if var elements {
      guard let index = component.index else {
        guard creating else { return }
        throw UpdateError("the member \(component.quoted) cannot be created in an array")
      }
      self = .null
      try Self.update(
        &elements, at: index, rest: path.dropFirst(), creating: creating, with: change)
      self = .array(elements)
    } else if creating {
      throw UpdateError("the member \(component.quoted) cannot be created in \(kind.article)")
    }
  }

  /// Returns the value at a path that leads through objects only; nil if there is none. Throws at an array.
  func value(at path: ArraySlice<Path.Component>) throws(UpdateError) -> EditableValue? {
    guard let component = path.first else { return self }
    guard kind != .array else { throw UpdateError("a renamed member cannot be inside an array") }
    let member = members?.first { $0.name == component.name }
    return try member?.value.value(at: path.dropFirst())
  }

  private static func update(
    _ members: inout [Member], at component: Path.Component, rest: ArraySlice<Path.Component>,
    creating: Bool, with change: Change
  ) throws(UpdateError) {
    let index = members.firstIndex { $0.name == component.name }
    var value = index.map { members[$0].value }
    try step(into: &value, rest, creating: creating, change)
    switch (index, value) {
    case (let index?, let value?): members[index].value = value
    case (let index?, nil): members.remove(at: index)
    case (nil, let value?): members.append(Member(component.name, value))
    case (nil, nil): break
    }
  }

  private static func update(
    _ elements: inout [EditableValue], at index: Int, rest: ArraySlice<Path.Component>,
    creating: Bool, with change: Change
  ) throws(UpdateError) {
    var value = index < elements.count ? elements[index] : nil
    try step(into: &value, rest, creating: creating, change)
    guard let value else {
      if index < elements.count { elements[index] = .null }
      return
    }
    guard index >= elements.count else { return elements[index] = value }
    guard index - elements.count < maximumPadding else {
      throw UpdateError("the element \(index) is too far beyond the end of the array")
    }
    while elements.count < index { elements.append(.null) }
    elements.append(value)
  }

  private static func step(
    into value: inout EditableValue?, _ rest: ArraySlice<Path.Component>, creating: Bool,
    _ change: Change
  ) throws(UpdateError) {
    guard !rest.isEmpty else { return try change(&value) }
    guard value != nil || creating else { return }
    var inner = value ?? .object([])
    try inner.update(at: rest, creating: creating, change)
    value = inner
  }
}

extension Path.Component {
  /// The form for messages.
  var quoted: String { "\"" + String(decoding: name, as: UTF8.self) + "\"" }
}

extension RawValue.Kind {
  /// As it is shown in messages.
  var article: String {
    switch self {
    case .null: "null"
    case .number: "a number"
    case .string: "a string"
    case .object: "an object"
    case .array: "an array"
    case .bool: "a boolean"
    }
  }
}
