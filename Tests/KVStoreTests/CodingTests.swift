import KVStore
import Testing

@Suite struct CodingTests {
  private struct Box<Value: Codable & Sendable>: Codable, Sendable {
    var _id = "1"
    var value: Value
  }

  /// Saves a value and reads it as another type.
  private func read<A: Codable & Sendable, B: Codable & Sendable>(
    _ value: A, as type: B.Type
  ) async throws -> B? {
    let local = try Local()
    try await local.client.store("box", of: Box<A>.self).save(Box(value: value))
    return try await local.client.store("box", of: Box<B>.self).find(id: "1")?.value
  }

  @Test("Integers are exact to the last bit", arguments: [Int64.min, -1, 0, 1 << 53 + 1, .max])
  func integers(value: Int64) async throws {
    #expect(try await read(value, as: Int64.self) == value)
  }

  @Test("Values come back as they were")
  func values() async throws {
    #expect(try await read(0.1, as: Double.self) == 0.1)
    #expect(try await read(Float(0.1), as: Float.self) == 0.1)
    #expect(try await read("é\u{0}\"\u{1F600}", as: String.self) == "é\u{0}\"\u{1F600}")
    #expect(try await read([[1], [], [2, 3]], as: [[Int]].self) == [[1], [], [2, 3]])
    #expect(try await read(["a": [true]], as: [String: [Bool]].self) == ["a": [true]])
    #expect(try await read([1, nil], as: [Int?].self) == [1, nil])
    #expect(
      try await read(Timestamp("2026-02-03T04:05:06.789Z"), as: String.self)
        == "2026-02-03T04:05:06.789Z")
    #expect(try await read(3.0, as: Int.self) == 3)
    #expect(try await read(3, as: Double.self) == 3)
  }

  @Test("What does not fit is an error that names the entity and the member")
  func mismatches() async throws {
    func expectDecodingError<A: Codable & Sendable, B: Codable & Sendable>(
      _ value: A, _ type: B.Type
    )
      async
    {
      let error = await #expect(throws: KVStoreError.self) { try await read(value, as: type) }
      #expect(error?.code == .invalid)
      #expect(error?.id == "1")
      #expect(error?.message.contains("value") == true, "\(error?.message ?? "")")
    }
    await expectDecodingError("1", Int.self)
    await expectDecodingError(1, String.self)
    await expectDecodingError(1, Bool.self)
    await expectDecodingError(300, Int8.self)
    await expectDecodingError(-1, UInt64.self)
    await expectDecodingError(Int64(1 << 53 + 1), Double.self)
    await expectDecodingError(0.5, Int.self)
    await expectDecodingError("tomorrow", Timestamp.self)
    await expectDecodingError([1], [String].self)
  }

  @Test("Numbers that JSON does not have are refused", arguments: [Double.nan, .infinity])
  func noNumbers(value: Double) async throws {
    let error = await #expect(throws: KVStoreError.self) { try await read(value, as: Double.self) }
    #expect(error?.code == .invalid)
  }
}
