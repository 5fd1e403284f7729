package import KVBase
package import KVJSON

/// What the records of one collection are like.
package struct CollectionRules: Sendable {
  /// Gives a whole record as it is to be stored, with what it has by default, or throws `.invalid` naming the member that
  /// is wrong.
  package typealias Check = @Sendable ([UInt8]) throws(StoreError) -> [UInt8]

  package let format: RecordFormat
  package let relations: [RecordRelation]
  package let check: Check

  package init(
    format: RecordFormat, relations: [RecordRelation] = [], check: @escaping Check
  ) {
    (self.format, self.relations, self.check) = (format, relations, check)
  }
}

/// What the records of the collections of a file are like. Immutable; safe from any thread.
package struct RecordLayout: Sendable {
  private let common: RecordFormat
  private let rules: [RecordID: CollectionRules]

  /// All collections have one format, and their records any content.
  package init(_ format: RecordFormat = .default) { (common, rules) = (format, [:]) }

  /// Collections have rules of their own. Others do not belong to this file.
  package init(rules: [RecordID: CollectionRules]) { (common, self.rules) = (.default, rules) }

  package func format(of collection: String) -> RecordFormat {
    rules.isEmpty ? common : rules[RecordID(collection)]?.format ?? common
  }

  /// How its records lead to those of other collections.
  package func relations(of collection: String) -> [RecordRelation] {
    rules.isEmpty ? [] : rules[RecordID(collection)]?.relations ?? []
  }

  /// The collections with rules of their own: those that others depend on first. Where they depend on each other, and
  /// else, in the order of their names.
  package var collectionsInOrder: [String] {
    let names = rules.keys.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var needed: [RecordID: [String]] = [:]
    for name in names {
      for relation in relations(of: name) {
        switch relation.link {
        case .reference: needed[RecordID(name), default: []].append(relation.collection)
        case .referrers: needed[RecordID(relation.collection), default: []].append(name)
        case .join(let join, _, _): needed[RecordID(join), default: []].append(name)
        }
      }
    }
    var order: [String] = []
    var seen: Set<RecordID> = []
    // Each with how many of those that it needs were looked at: chains may be long.
    var open: [(name: String, next: Int)] = names.reversed().map { ($0, 0) }
    while let (name, next) = open.popLast() {
      if next == 0, !seen.insert(RecordID(name)).inserted { continue }
      let others = needed[RecordID(name)] ?? []
      guard next < others.count else {
        order.append(name)
        continue
      }
      open.append((name, next + 1))
      if !seen.contains(RecordID(others[next])) { open.append((others[next], 0)) }
    }
    return order
  }

  /// Whether others are removed with its records.
  package func isOwner(_ collection: String) -> Bool {
    relations(of: collection).contains(where: \.isOwner)
  }

  /// The record that an application writes, as it is to be stored: see `CollectionRules.Check`.
  package func checked(
    _ record: SavedEntity, in collection: String
  ) throws(StoreError) -> SavedEntity {
    guard !rules.isEmpty, let rules = rules[RecordID(collection)] else { return record }
    do throws(StoreError) {
      return SavedEntity(id: record.id, bytes: try rules.check(record.bytes))
    } catch {
      var failure = error
      failure.id = record.id
      throw failure
    }
  }
}
