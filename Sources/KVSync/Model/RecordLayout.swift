package import KVBase
package import KVJSON

/// What the records of one collection are like.
package struct CollectionRules: Sendable {
  /// Gives a whole record as it is to be stored, with what it has by default, or throws `.invalid` naming the member that
  /// is wrong.
  package typealias Check = @Sendable ([UInt8]) throws(StoreError) -> [UInt8]

  package let format: RecordFormat
  package let check: Check

  package init(format: RecordFormat, check: @escaping Check) {
    (self.format, self.check) = (format, check)
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
