import KVWorlds
import Testing

/// Some of the worlds that the program `simulated-worlds` plays by the thousand.
@Suite("A simulated world") struct SimulatedWorldTests {
  @Test("loses nothing, doubles nothing, and ends with everybody of one mind")
  func everySeed() {
    for outcome in SimulatedWorlds().run() {
      for finding in outcome.findings { Issue.record("\(outcome.kind): \(finding)") }
    }
  }
}
