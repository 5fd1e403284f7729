package import KVBase
internal import KVJSON

extension Query {
  /// The values that a query computes for an entity beside its members, by MongoDB's names.
  package enum Meta: String, Sendable {
    /// How well it fits the searches.
    case textScore
    /// How far it is from the place that it is to be near to, in metres.
    case geoNearDistance
  }

  /// A member that results have and entities have not.
  package struct ComputedMember: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
      case meta(Meta)
      case snippet(SnippetStyle)
    }

    package let name: RecordID
    package let value: Value

    init(_ name: String, _ value: Value) { (self.name, self.value) = (RecordID(name), value) }

    /// The member with another name of the member that it is made of.
    func renamed(_ rename: (Path) -> Path) -> ComputedMember {
      guard case .snippet(var style) = value else { return self }
      style.path = style.path.map(rename)
      return ComputedMember(name.text, .snippet(style))
    }
  }

  /// The query for whole entities, as they are stored.
  package var whole: Query {
    var whole = self
    whole.fields = []
    whole.computed = []
    return whole
  }
}

/// The members that a query computes, prepared for many entities. Immutable; safe from any thread.
final class ComputedMembers: Sendable {
  let names: NameTable
  private let members: [Query.ComputedMember]
  private let score: TextScore
  private let nearest: NearestPlace?

  /// Nil if there are none. What the format reserves is not computed.
  init?(_ query: Query) {
    members = query.computed.filter { !query.format.isReserved($0.name.text) }
    guard !members.isEmpty else { return nil }
    names = NameTable(members.map { Array($0.name.text.utf8) })
    score = TextScore(searches: query.filter.searches, format: query.format)
    nearest = query.filter.nearest
  }

  /// Appends the members to those of an object that is not closed yet.
  func append(of entity: RawValue, to out: inout [UInt8]) {
    for member in members {
      if out.last != UInt8(ascii: "{") { out.append(UInt8(ascii: ",")) }
      JSONValue.write(member.name.text, to: &out)
      out.append(UInt8(ascii: ":"))
      value(of: member, entity).write(to: &out)
    }
  }

  private func value(of member: Query.ComputedMember, _ entity: RawValue) -> JSONValue {
    switch member.value {
    case .meta(.textScore): .double(score.score(of: entity))
    case .meta(.geoNearDistance):
      nearest.map { $0.angle(to: entity) }.flatMap {
        $0.isFinite ? .double($0 * GeoPoint.earthRadius) : nil
      } ?? .null
    case .snippet(let style): style.snippet(of: entity, score.searches, score.format) ?? .null
    }
  }
}
