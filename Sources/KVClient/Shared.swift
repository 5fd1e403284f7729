internal import KVBase

/// Objects that all clients of this process share which have the same file open: the system's locks do not
/// exclude threads of one process from each other. Each lives as long as somebody holds it.
final class Shared<Object: AnyObject & Sendable>: Sendable {
  private struct Weak: Sendable {
    weak var value: Object?
  }

  private let all = Monitor<[RecordID: Weak]>([:])

  /// Returns the object of the file at a path; made if there is none.
  func of(path: String, _ make: () -> Object) -> Object {
    let path = RecordID(path)
    return all.withLock { all in
      if let known = all[path]?.value { return known }
      all = all.filter { $0.value.value != nil }
      let new = make()
      all[path] = Weak(value: new)
      return new
    }
  }
}
