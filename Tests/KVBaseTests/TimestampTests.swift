import Testing

@testable import KVBase

@Suite("Timestamp") struct TimestampTests {
  @Test(
    "writes and reads the backend's form",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"),
      (1_710_277_201_120, "2024-03-12T21:00:01.120Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (-1, "1969-12-31T23:59:59.999Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
      (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func roundTrip(milliseconds: Int64, text: String) {
    #expect(Timestamp(milliseconds: milliseconds).description == text)
    #expect(Timestamp(text)?.milliseconds == milliseconds)
  }

  @Test("reads a text without a fraction") func withoutFraction() {
    #expect(Timestamp("2024-03-12T21:00:01Z")?.milliseconds == 1_710_277_201_000)
  }

  @Test(
    "refuses what is not a moment",
    arguments: [
      "", "Z", "2024-02-30T00:00:00.000Z", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00.000Z",
      "2024-00-10T00:00:00.000Z", "2024-01-01T24:00:00.000Z", "2024-01-01 00:00:00.000Z",
      "2024-01-01T00:00:00.000", "2024-01-01T00:00:00,000Z", "+024-01-01T00:00:00.000Z",
      "２024-01-01T00:00:00.0Z", "2024-01-01T00:60:00.000Z", "2024-01-01T00:00:60.000Z",
    ])
  func refuses(text: String) {
    #expect(Timestamp(text) == nil)
  }

  @Test("agrees with itself on every day of four centuries") func everyDay() {
    var previous = ""
    for day in stride(from: Int64(-80_000), to: 80_000, by: 1) {
      let moment = Timestamp(milliseconds: day * 86_400_000 + 43_200_001)
      let text = moment.description
      #expect(Timestamp(text) == moment)
      #expect(text > previous)
      previous = text
    }
  }

  @Test("stays within four-digit years, so that texts keep comparing") func extremes() {
    #expect(Timestamp(milliseconds: .max).description.hasPrefix("9999-"))
    #expect(Timestamp(milliseconds: .min).description.hasPrefix("0000-"))
  }
}
