import Glibc
import KVBase
package import KVTestSupport

/// Simulated worlds of both kinds.
package struct SimulatedWorlds: Sendable {
  /// What came of a world: what is wrong at its end, which should be nothing.
  package struct Outcome: Sendable {
    package let kind: WorldKind
    package let seed: Seed
    package let findings: [String]
  }

  private let worlds: [(kind: WorldKind, seed: Seed)]

  /// What the environment asks for. `KV_WORLDS`: how many of each kind, otherwise `count`. Those of Kinvey's backend are drawn
  /// anew each time; those of AppSync's are the same each time, unless `KV_APPSYNC_START` draws others. `KV_TEST_SEED`: only
  /// this one, of both kinds.
  package init(count: Int = 50) {
    var drawn = Seed()
    print("worlds from \(drawn)")
    guard Self.variable("KV_TEST_SEED") == nil else {
      worlds = WorldKind.allCases.map { ($0, drawn) }
      return
    }
    let start = Self.variable("KV_APPSYNC_START").flatMap { UInt64($0) }
    var fixed = Seed(start ?? 20_240_521)
    let count = Self.variable("KV_WORLDS").flatMap { Int($0) } ?? count
    worlds =
      (0..<count).map { _ in (.keyValue, Seed(drawn.next() >> 1)) }
      + (0..<count).map { _ in (.appSync, Seed(fixed.next() >> 1)) }
  }

  package static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Plays them, as many at the same time as there are processors: worlds know nothing of each other.
  package func run() -> [Outcome] {
    let worlds = worlds
    return concurrentMap(worlds.count, threads: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) {
      index in
      let (kind, seed) = worlds[index]
      do {
        return Outcome(kind: kind, seed: seed, findings: try SimulatedWorld(seed, kind).run())
      } catch {
        return Outcome(kind: kind, seed: seed, findings: ["the world ended: \(error): \(seed)"])
      }
    }
  }
}
