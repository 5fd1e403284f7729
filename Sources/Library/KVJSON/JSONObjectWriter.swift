internal import KVBase

/// Writes a JSON object member by member, of which some are JSON already: bodies of entities, above all, which are
/// neither parsed nor written anew.
package struct JSONObjectWriter {
  private var text: [UInt8] = [UInt8(ascii: "{")]
  private var isEmpty = true

  package init(reservingCapacity count: Int = 0) { text.reserveCapacity(count) }

  /// Continues JSON text that ends after a member of an object. Reserves memory for so many more bytes.
  package init(continuing object: [UInt8], reservingCapacity count: Int) {
    text.removeAll()
    text.reserveCapacity(object.count + count)
    text += object
    isEmpty = false
  }

  /// Begins with the members of an object.
  package init(_ object: JSONObject) {
    add(membersOf: JSONValue.object(object).bytes)
  }

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

  /// The same; throws `failure` if there is no memory for it.
  package mutating func add<E: Error>(
    _ name: String, json: [UInt8], or failure: @autoclosure () -> E
  ) throws(E) {
    try text.makeRoom(for: json.count + 6 * name.utf8.count + 8, or: failure())
    add(name, json: json)
  }

  /// Adds the members of an object, which is JSON text without spaces around it.
  package mutating func add(membersOf object: [UInt8]) {
    guard object.count > 2 else { return }
    if !isEmpty { text.append(UInt8(ascii: ",")) }
    isEmpty = false
    text += object[1..<(object.count - 1)]
  }

  /// Adds a member that is an array, whose elements the caller streams. Returns the text up to and with the opening bracket;
  /// the writer continues with the closing one, so `bytes` is what follows the elements.
  package mutating func splitArray(_ name: String) -> [UInt8] {
    begin(name)
    let head = text + [UInt8(ascii: "[")]
    text = [UInt8(ascii: "]")]
    return head
  }

  /// The same as `finish()`. Throws `failure` if there is no memory for the last byte.
  package mutating func finish<E: Error>(or failure: @autoclosure () -> E) throws(E) -> [UInt8] {
    var object: [UInt8] = []
    swap(&object, &text)
    try object.makeRoom(for: 1, or: failure())
    object.append(UInt8(ascii: "}"))
    return object
  }

  /// Gives the object with what was added, which is not copied: the writer is of no more use.
  package mutating func finish() -> [UInt8] {
    var object: [UInt8] = []
    swap(&object, &text)
    object.append(UInt8(ascii: "}"))
    return object
  }

  /// The object with what was added so far.
  package var bytes: [UInt8] { text + [UInt8(ascii: "}")] }

  private mutating func begin(_ name: String) {
    if !isEmpty { text.append(UInt8(ascii: ",")) }
    isEmpty = false
    JSONValue.write(name, to: &text)
    text.append(UInt8(ascii: ":"))
  }
}
