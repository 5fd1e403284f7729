/// A type that names the members of its entities itself, because the library cannot find the names out.
///
/// Swift does not reveal the name of a key path. The library finds it out by decoding the type from generated values.
/// This works for types made of numbers, strings, `Bool`, `Timestamp`, `Date`, `UUID`, enumerations that are
/// `CaseIterable`, optionals, arrays, dictionaries and other such types. A type that accepts only certain values, such
/// as a string that must be an address, names its members itself:
///
///     extension Person: FieldNaming {
///       static var fieldNames: [PartialKeyPath<Person>: String] {
///         [\.id: "_id", \.email: "email", \.home.city: "home.city"]
///       }
///     }
public protocol FieldNaming {
  /// The names of all members. The path to a member of a nested object has dots.
  static var fieldNames: [PartialKeyPath<Self>: String] { get }
}
