/// Writes a JSON object member by member, of which some are JSON already: bodies of entities, above all, which are
/// neither parsed nor written anew.
package struct JSONObjectWriter {
  private var text: [UInt8] = [UInt8(ascii: "{")]

  package init(reservingCapacity count: Int = 0) { text.reserveCapacity(count) }

  /// Adds a member. Names are not compared: one that is added twice is there twice.
  package mutating func add(_ name: String, _ value: JSONValue) {
    begin(name)
    value.write(to: &text)
  }

  /// Adds a member whose value is valid JSON text.
  package mutating func add(_ name: String, json: some Sequence<UInt8>) {
    begin(name)
    text += json
  }

  /// The object with what was added so far.
  package var bytes: [UInt8] { text + [UInt8(ascii: "}")] }

  private mutating func begin(_ name: String) {
    if text.count > 1 { text.append(UInt8(ascii: ",")) }
    JSONValue.write(name, to: &text)
    text.append(UInt8(ascii: ":"))
  }
}
