import Glibc
import KVBase
package import KVSync
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

  /// What the environment asks for. `KV_WORLDS`: how many of each kind, otherwise `count`. `KV_WORLDS_START`: the number that
  /// their seeds are drawn from; without it they are different ones each time. `KV_TEST_SEED`: only this world, of both kinds.
  package init(count: Int = 50) {
    guard Self.variable("KV_TEST_SEED") == nil else {
      worlds = WorldKind.allCases.map { ($0, Seed()) }
      return
    }
    var drawn = Self.variable("KV_WORLDS_START").flatMap { UInt64($0) }.map { Seed($0) } ?? Seed()
    print("worlds from KV_WORLDS_START=\(drawn.value)")
    let count = Self.variable("KV_WORLDS").flatMap { Int($0) } ?? count
    worlds = WorldKind.allCases.flatMap { kind in
      (0..<count).map { _ in (kind, Seed(drawn.next() >> 1)) }
    }
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

/// What a finding says of an error. Without it a build as it is shipped prints none of its members.
extension StoreError: CustomStringConvertible {
  package var description: String { json }
}
