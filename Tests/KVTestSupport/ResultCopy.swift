package import KVSync

/// A copy of an observed result that only notifications change.
package struct ResultCopy: Sendable {
  package private(set) var shown: [String] = []

  package init() {}

  /// As `ResultChanges` says it is done.
  package mutating func apply(_ changes: ResultChanges) {
    let out = changes.deletions.map(\.index) + changes.moves.map(\.from)
    var into = changes.insertions.map { ($0.index, Self.text($0.entity)) }
    into += changes.moves.map { ($0.to, shown[$0.from]) }
    for index in out.sorted(by: >) { shown.remove(at: index) }
    for (index, entity) in into.sorted(by: { $0.0 < $1.0 }) { shown.insert(entity, at: index) }
    for modified in changes.modifications { shown[modified.index] = Self.text(modified.entity) }
  }

  private static func text(_ entity: [UInt8]) -> String { String(decoding: entity, as: UTF8.self) }
}
