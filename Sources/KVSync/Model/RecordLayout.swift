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

  /// Collections have rules of their own. Others are none of this file's.
  package init(rules: [RecordID: CollectionRules]) { (common, self.rules) = (.default, rules) }

  package func format(of collection: String) -> RecordFormat {
    rules.isEmpty ? common : rules[RecordID(collection)]?.format ?? common
  }

  /// How its records lead to those of other collections.
  package func relations(of collection: String) -> [RecordRelation] {
    rules.isEmpty ? [] : rules[RecordID(collection)]?.relations ?? []
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
