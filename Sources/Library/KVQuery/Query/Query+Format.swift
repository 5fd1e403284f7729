package import KVJSON

extension Query {
  /// The query for records of a format.
  package func of(_ format: RecordFormat) -> Query {
    guard self.format !== format else { return self }
    var query = self
    query.format = format
    return query
  }

  /// The order by ids that are one text, whatever it says after that: no two records have the same. Nil: another order.
  var orderOfTextIDs: SortKey? {
    guard format.hasTextID, let first = sort.first, first.indexedMember == format.idPaths[0] else {
      return nil
    }
    return first
  }

  /// The record with this key.
  package init(key: String, _ format: RecordFormat) {
    self.init(.keys([key], format))
    self.format = format
  }
}

extension Predicate {
  /// That a record has one of these keys. Texts that are no keys of the format are those of no record.
  package static func keys(_ keys: [String], _ format: RecordFormat) -> Predicate {
    let ids = keys.compactMap { format.values(ofKey: $0) }
    guard format.id.count == 1 else {
      return ids.isEmpty ? .nothing : .or(ids.map { .id($0, format) })
    }
    return .field(Path(format.id[0].name), [.isIn(ids.map { $0[0] })])
  }

  /// That a record has none of them.
  package static func noKeys(_ keys: [String], _ format: RecordFormat) -> Predicate {
    let ids = keys.compactMap { format.values(ofKey: $0) }
    guard format.id.count == 1 else {
      return ids.isEmpty ? .everything : .nor(ids.map { .id($0, format) })
    }
    return .field(Path(format.id[0].name), [.notIn(ids.map { $0[0] })])
  }

  /// That each member of the id has its value.
  private static func id(_ values: [JSONValue], _ format: RecordFormat) -> Predicate {
    .and(zip(format.id, values).map { .field(Path($0.name), [.equal($1)]) })
  }
}

extension RecordFormat {
  /// The members that are the id.
  package var idPaths: [Path] { id.map { Path($0.name) } }

  /// The path of the version; nil: there is none.
  package var versionPath: Path? { version.isEmpty ? nil : Path(version.joined(separator: ".")) }
}
