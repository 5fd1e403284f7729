internal import KVQuery

/// A number that is computed for each group of entities: see `DataStore.group`. Values that are not numbers are
/// ignored.
///
///     struct City: Decodable, Sendable { var city: String?, count: Int, oldest: Int }
///     let cities: [City] = try await people.group(
///       by: [\.city], .count("count"), .maximum("oldest", \.age))
public struct Aggregate<Entity: Codable & Sendable>: Sendable {
  let member: Result<Grouping.Member, KVStoreError>

  /// The number of entities.
  public static func count(_ name: String) -> Aggregate {
    Aggregate(member: .success(.init(name, .count)))
  }

  /// The sum; 0 without numbers.
  public static func sum<Value>(_ name: String, _ keyPath: KeyPath<Entity, Value>) -> Aggregate {
    Aggregate(name, of: keyPath) { .sum($0) }
  }

  /// The average; null without numbers, as the minimum and the maximum.
  public static func average<Value>(
    _ name: String, _ keyPath: KeyPath<Entity, Value>
  ) -> Aggregate { Aggregate(name, of: keyPath) { .average($0) } }

  /// The least value; null without numbers.
  public static func minimum<Value>(
    _ name: String, _ keyPath: KeyPath<Entity, Value>
  ) -> Aggregate { Aggregate(name, of: keyPath) { .minimum($0) } }

  /// The greatest value; null without numbers.
  public static func maximum<Value>(
    _ name: String, _ keyPath: KeyPath<Entity, Value>
  ) -> Aggregate { Aggregate(name, of: keyPath) { .maximum($0) } }

  private init(member: Result<Grouping.Member, KVStoreError>) { self.member = member }

  private init(
    _ name: String, of keyPath: PartialKeyPath<Entity>, _ aggregate: (Path) -> Grouping.Aggregate
  ) {
    member = Result { () throws(KVStoreError) in
      .init(name, aggregate(Path(try MemberTable<Entity>.shared.name(of: keyPath))))
    }
  }
}
