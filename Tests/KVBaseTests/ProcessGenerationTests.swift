import Testing

@testable import KVBase

@Suite("ProcessGeneration") struct ProcessGenerationTests {
  @Test("stays the same within a process") func same() {
    let generation = ProcessGeneration.current
    #expect(generation.isCurrent)
    #expect(generation == .current)
  }
}
