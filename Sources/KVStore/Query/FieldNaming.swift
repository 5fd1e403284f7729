/// A type that says what the members of its entities are called, because that cannot be found out.
///
/// Swift does not tell which name a key path has. This library finds out by decoding the type from made-up values, which
/// works for types of numbers, texts, `Bool`, `Timestamp`, `Date`, `UUID`, enumerations that are `CaseIterable`, optionals,
/// arrays, dictionaries and other such types. A type that takes only certain values, such as a text that must be an
/// address, says it itself:
///
///     extension Person: FieldNaming {
///       static var fieldNames: [PartialKeyPath<Person>: String] {
///         [\.id: "_id", \.email: "email", \.home.city: "home.city"]
///       }
///     }
public protocol FieldNaming {
  /// All members, those of objects in the entity with dots.
  static var fieldNames: [PartialKeyPath<Self>: String] { get }
}
