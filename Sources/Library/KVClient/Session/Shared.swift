internal import KVBase

/// Objects that all clients of this process share which have the same file open: the system's locks do not
/// exclude threads of one process from each other. Each lives as long as it is referenced. A child made by `fork()` begins
/// with none: those of its parent may say that they hold a lock, which the child does not.
final class Shared<Object: AnyObject & Sendable>: Sendable {
  private struct Weak: Sendable {
    weak var value: Object?
  }

  private let all = Monitor<(process: ProcessGeneration, objects: [RecordID: Weak])>(
    (.current, [:]))

  /// Returns the object of the file at a path; made if there is none.
  func of(path: String, _ make: () -> Object) -> Object {
    let path = RecordID(path)
    return all.withLock { all in
      if !all.process.isCurrent { all = (.current, [:]) }
      if let known = all.objects[path]?.value { return known }
      all.objects = all.objects.filter { $0.value.value != nil }
      let new = make()
      all.objects[path] = Weak(value: new)
      return new
    }
  }
}
