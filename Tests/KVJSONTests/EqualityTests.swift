import KVJSON
import Testing

@Suite("Equality of JSON") struct EqualityTests {
  private static let composed = "\u{E9}"
  private static let decomposed = "e\u{301}"

  @Test("is that of the bytes, in texts and in names") func bytes() {
    #expect(JSONValue.string(Self.composed) != .string(Self.decomposed))
    #expect(JSONValue.array([.string(Self.composed)]) != .array([.string(Self.decomposed)]))
    #expect(JSONValue.object([Self.composed: 1]) != .object([Self.decomposed: 1]))
    #expect(JSONValue.object([Self.composed: 1]) == .object([Self.composed: 1]))
  }

  @Test("is that of types too") func types() {
    let values: [JSONValue] = [.null, false, 0, 0.5, "", [], [:]]
    for (index, value) in values.enumerated() {
      #expect(values.filter { $0 == value } == [values[index]])
    }
  }

  @Test("keeps members apart that only look the same") func members() {
    var object: JSONObject = [Self.composed: 1]
    object[Self.decomposed] = 2
    #expect(object.count == 2)
    #expect(object[Self.composed] == 1)
    #expect(object[Self.decomposed] == 2)
    object[Self.composed] = nil
    #expect(object.members.map(\.value) == [2])
  }

  @Test("is what an edited entity's members are found by") func editing() throws {
    let bytes = Array(#"{"\#(Self.composed)":1,"\#(Self.decomposed)":2}"#.utf8)
    let edited = try EntityEditing.rewriting(
      bytes, try EntityScanner.outline(of: bytes), id: nil,
      replacing: [(name: Self.decomposed, json: Array("3".utf8))])
    #expect(Array(edited) == Array(#"{"\#(Self.composed)":1,"\#(Self.decomposed)":3}"#.utf8))
  }
}
