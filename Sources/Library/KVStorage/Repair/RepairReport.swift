package import KVJSON

/// What a repair has found, and what became of it.
package struct RepairReport: Sendable {
  /// One entity, as the report names it.
  package struct Record: Sendable, Equatable {
    package var collection: String
    package var id: String
  }

  /// How many entities are listed, of each kind.
  static let maxListed = 1000

  /// How many entities were looked at.
  package internal(set) var entities = 0
  /// How many of them, and of the versions that changes started from, were damaged.
  package internal(set) var damaged = 0
  /// The records that were removed: the next pull brings them again.
  package private(set) var removed: [Record] = []
  /// The records with an unsent write, which was quarantined: what it would send is lost.
  package private(set) var quarantined: [Record] = []

  package init() {}

  mutating func addRemoved(_ id: String, in collection: String) {
    Self.add(Record(collection: collection, id: id), to: &removed)
  }

  mutating func addQuarantined(_ id: String, in collection: String) {
    Self.add(Record(collection: collection, id: id), to: &quarantined)
  }

  /// Adds what another repair has found.
  mutating func add(_ other: RepairReport) {
    entities += other.entities
    damaged += other.damaged
    for one in other.removed { Self.add(one, to: &removed) }
    for one in other.quarantined { Self.add(one, to: &quarantined) }
  }

  private static func add(_ record: Record, to list: inout [Record]) {
    if list.count < maxListed { list.append(record) }
  }

  /// Adds the entities of a report, with the tag that they are of.
  package static func json(_ reports: [(tag: String, report: RepairReport)]) -> JSONObject {
    func list(_ records: (RepairReport) -> [Record]) -> JSONValue {
      .array(
        reports.flatMap { tag, report in
          records(report).map {
            ["collection": .string($0.collection), "_id": .string($0.id), "tag": .string(tag)]
          }
        })
    }
    return [
      "entities": .int(Int64(reports.reduce(0) { $0 + $1.report.entities })),
      "damaged": .int(Int64(reports.reduce(0) { $0 + $1.report.damaged })),
      "removed": list(\.removed), "quarantined": list(\.quarantined),
    ]
  }
}
