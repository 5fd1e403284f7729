internal import Glibc
internal import Synchronization

/// Distinguishes a process from the child that fork() makes of it.
///
/// A child inherits our memory but not our threads: locks may be held by a thread that does not exist, connections to SQLite and
/// to the backend are shared with the parent. The owner of such a resource remembers the generation it
/// was made in and refuses to work in another, before it touches a lock.
package struct ProcessGeneration: Sendable, Equatable {
  private let number: Int

  /// The generation of the calling process. One relaxed load; the first call installs the handler.
  package static var current: ProcessGeneration {
    _ = installed
    return ProcessGeneration(number: forks.load(ordering: .relaxed))
  }

  /// Whether the calling process is the one that this generation was taken in.
  package var isCurrent: Bool { number == Self.forks.load(ordering: .relaxed) }

  private static let forks = Atomic(0)

  /// The child handler is never taken out: the library is not unloaded (`-z nodelete`).
  private static let installed: Bool =
    pthread_atfork(nil, nil, { ProcessGeneration.forks.add(1, ordering: .relaxed) }) == 0
}
