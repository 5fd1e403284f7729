package import KVBase

/// Who joins and who leaves a group when its members become others.
package struct MembershipChange: Sendable, Equatable {
  package let joined: [String]
  package let left: [String]

  package init(from former: [String], to members: [String]) {
    let (former, wanted) = (Set(former.map { RecordID($0) }), Set(members.map { RecordID($0) }))
    joined = wanted.subtracting(former).map(\.text)
    left = former.subtracting(wanted).map(\.text)
  }

  package var isEmpty: Bool { joined.isEmpty && left.isEmpty }

  /// Since when they have other rights, if the transaction has this time: who has read before has a time that is not later.
  package static func rightsSince(_ now: Timestamp) -> Timestamp {
    Timestamp(milliseconds: now.milliseconds + 1)
  }
}
