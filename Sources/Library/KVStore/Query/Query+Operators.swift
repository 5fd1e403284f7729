internal import KVJSON
internal import KVQuery
internal import KVSync

// Conditions on key paths: `\.age > 30 && \.name != "x"`. `nil` means null or a missing member.

/// Selects entities whose member has a value.
public func == <Entity, Value: Encodable>(
  keyPath: KeyPath<Entity, Value>, value: Value
) -> Query<Entity> { .test(keyPath, with: value) { .equal($0) } }

/// Selects entities whose member does not have a value.
public func != <Entity, Value: Encodable>(
  keyPath: KeyPath<Entity, Value>, value: Value
) -> Query<Entity> { .test(keyPath, with: value) { .notEqual($0) } }

/// Selects entities whose member is less than a value.
public func < <Entity, Value: Encodable & Comparable>(
  keyPath: KeyPath<Entity, Value>, value: Value
) -> Query<Entity> { .test(keyPath, with: value) { .compare(.less, $0) } }

/// Selects entities whose member is less than or equal to a value.
public func <= <Entity, Value: Encodable & Comparable>(
  keyPath: KeyPath<Entity, Value>, value: Value
) -> Query<Entity> { .test(keyPath, with: value) { .compare(.lessOrEqual, $0) } }

/// Selects entities whose member is greater than a value.
public func > <Entity, Value: Encodable & Comparable>(
  keyPath: KeyPath<Entity, Value>, value: Value
) -> Query<Entity> { .test(keyPath, with: value) { .compare(.greater, $0) } }

/// Selects entities whose member is greater than or equal to a value.
public func >= <Entity, Value: Encodable & Comparable>(
  keyPath: KeyPath<Entity, Value>, value: Value
) -> Query<Entity> { .test(keyPath, with: value) { .compare(.greaterOrEqual, $0) } }

/// Selects entities whose optional member is less than a value.
public func < <Entity, Value: Encodable & Comparable>(
  keyPath: KeyPath<Entity, Value?>, value: Value
) -> Query<Entity> { .test(keyPath, with: value) { .compare(.less, $0) } }

/// Selects entities whose optional member is less than or equal to a value.
public func <= <Entity, Value: Encodable & Comparable>(
  keyPath: KeyPath<Entity, Value?>, value: Value
) -> Query<Entity> { .test(keyPath, with: value) { .compare(.lessOrEqual, $0) } }

/// Selects entities whose optional member is greater than a value.
public func > <Entity, Value: Encodable & Comparable>(
  keyPath: KeyPath<Entity, Value?>, value: Value
) -> Query<Entity> { .test(keyPath, with: value) { .compare(.greater, $0) } }

/// Selects entities whose optional member is greater than or equal to a value.
public func >= <Entity, Value: Encodable & Comparable>(
  keyPath: KeyPath<Entity, Value?>, value: Value
) -> Query<Entity> { .test(keyPath, with: value) { .compare(.greaterOrEqual, $0) } }

extension Query {
  /// Selects entities that both queries select.
  public static func && (left: Query, right: Query) -> Query { left.combined(.and, with: [right]) }

  /// Selects entities that at least one of the queries selects.
  public static func || (left: Query, right: Query) -> Query { left.combined(.or, with: [right]) }

  /// Selects entities that the query does not select.
  public static prefix func ! (query: Query) -> Query { query.combined(.not, with: []) }

  /// Selects entities whose member is one of these values: `people.find(.where(\.city, isIn: ["Reno", "Ely"]))`.
  public static func `where`<Value: Encodable>(
    _ keyPath: KeyPath<Entity, Value>, isIn values: [Value]
  ) -> Query {
    test(keyPath, with: values) { .isIn($0.arrayValue ?? []) }
  }

  /// Selects entities whose array contains this element: `people.find(.where(\.tags, contains: "new"))`.
  public static func `where`<Element: Encodable>(
    _ keyPath: KeyPath<Entity, [Element]>, contains element: Element
  ) -> Query {
    test(keyPath, with: element) { .equal($0) }
  }

  /// Selects entities with these words in a string: `people.find(.where(\.title, search: "fox* -cat"))`. The notation
  /// is that of `$text`, in docs/queries.md. `all` requires all of the words instead of one. `language` "english"
  /// compares stems.
  public static func `where`<Value: Encodable>(
    _ keyPath: KeyPath<Entity, Value>, search text: String, all: Bool = false,
    language: String = "none"
  ) -> Query {
    Query { () throws(KVStoreError) in
      let name = try MemberTable<Entity>.shared.name(of: keyPath)
      return try predicate(of: [name: .object(search(text, matchingAll: all, language: language))])
    }
  }

  /// Selects entities with these words in any of their strings.
  public static func search(_ text: String, all: Bool = false, language: String = "none") -> Query {
    Query { () throws(KVStoreError) in
      try predicate(of: search(text, matchingAll: all, language: language))
    }
  }

  private static func search(
    _ text: String, matchingAll all: Bool, language: String
  ) -> JSONObject {
    [
      "$text": [
        "$search": .string(text), "$matchCriteria": .string(all ? "all" : "any"),
        "$language": .string(language),
      ]
    ]
  }

  private static func predicate(of filter: JSONObject) throws(KVStoreError) -> Predicate {
    do throws(QueryError) { return try KVQuery.Query(filter: filter.text).filter } catch {
      throw KVStoreError(StoreError(error))
    }
  }

  static func test<Value>(
    _ keyPath: KeyPath<Entity, Value>, with value: some Encodable, _ test: (JSONValue) -> Test
  ) -> Query {
    Query { () throws(KVStoreError) in
      let name = try MemberTable<Entity>.shared.name(of: keyPath)
      return .field(Path(name), [test(try JSONEncoding.value(of: value))])
    }
  }
}
