package import KVBase

/// The records that a removal takes along, each in front of the one that it belongs to.
///
/// Relations may lead in circles: no record comes twice. Memory: an id for each record.
package struct Cascade: Sendable {
  package struct Member: Hashable, Sendable {
    package let collection: RecordID
    package let id: RecordID

    package init(_ id: String, in collection: String) {
      (self.collection, self.id) = (RecordID(collection), RecordID(id))
    }
  }

  /// In the order in which they are to be removed.
  package private(set) var members: [Member] = []
  private var seen: Set<Member> = []

  package init() {}

  /// Adds a record, and in front of it all that belongs to it. `children`: gives what belongs to one record.
  package mutating func add<Failure: Error>(
    _ root: Member, children: (Member) throws(Failure) -> [Member]
  ) throws(Failure) {
    // With a stack of our own: a chain of records may be longer than the thread's.
    var open = [(member: root, isEntered: false)]
    while let (member, isEntered) = open.popLast() {
      if isEntered {
        members.append(member)
      } else if seen.insert(member).inserted {
        open.append((member, true))
        let unseen = try children(member).filter { !seen.contains($0) }
        open += unseen.map { ($0, false) }
      }
    }
  }
}
