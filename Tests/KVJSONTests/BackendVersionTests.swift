import KVJSON
import Testing

@Suite("Versions of backends") struct BackendVersionTests {
  @Test("are the same if their bytes are") func equality() {
    #expect(RecordVersion("7") == RecordVersion("7"))
    #expect(RecordVersion("7") != RecordVersion("07"))
    #expect(RecordVersion("caf\u{E9}") != RecordVersion("cafe\u{301}"))
  }

  @Test(
    "follow each other as their order says",
    arguments: [
      (VersionOrder.text, "2024-01-01T00:00:00.000Z", "2024-01-01T00:00:00.001Z"),
      (.text, "10", "9"), (.integer, "9", "10"), (.integer, "-10", "-9"), (.integer, "-1", "0"),
      (.integer, "0099", "100"), (.integer, "99999999999999999998", "99999999999999999999"),
    ])
  func order(_ order: VersionOrder, older: String, newer: String) {
    let (older, newer) = (RecordVersion(older), RecordVersion(newer))
    #expect(order.isOlder(older, than: newer))
    #expect(!order.isOlder(newer, than: older))
    #expect(!order.isOlder(older, than: older))
    #expect(order.newer(older, newer) == newer)
    #expect(order.newer(newer, older) == newer)
  }

  @Test(
    "are not known to be older without an order, and where they are none of it",
    arguments: [
      (VersionOrder.unordered, "1", "2"), (.integer, "a", "b"), (.integer, "1", "b"),
      (.integer, "", "1"), (.integer, "-", "1"), (.integer, "-0", "0"), (.integer, "1.5", "2"),
    ])
  func unknown(_ order: VersionOrder, one: String, other: String) {
    #expect(!order.isOlder(RecordVersion(one), than: RecordVersion(other)))
    #expect(order.newer(RecordVersion(one), RecordVersion(other)) == RecordVersion(other))
  }
}
