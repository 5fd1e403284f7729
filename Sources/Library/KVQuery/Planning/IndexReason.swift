internal import KVJSON

/// Why an index was made without being asked for: what scans it was to replace have cost.
package struct IndexReason: Sendable, Equatable {
  /// How many queries looked at all entities.
  package private(set) var scans = 0
  /// How many entities they looked at, and how many they found, all together.
  package private(set) var examined = 0
  package private(set) var returned = 0
  /// How much of the file the index took when it was made; 0: it is not complete.
  package var bytes = 0

  package init() {}

  /// `{"scans":16,"examined":3200000,"returned":32000,"bytes":5242880}`; nil for anything else.
  init?(_ value: JSONValue) {
    guard let object = value.objectValue else { return nil }
    for (name, path) in Self.members {
      guard let number = object[name]?.intValue, let number = Int(exactly: number) else {
        return nil
      }
      self[keyPath: path] = number
    }
  }

  /// Adds one scan.
  package mutating func add(examined: Int, returned: Int) {
    scans += 1
    self.examined += examined
    self.returned += returned
  }

  var json: JSONValue {
    .object(JSONObject(Self.members.map { .init($0, .int(Int64(self[keyPath: $1]))) }))
  }

  private static var members: [(String, WritableKeyPath<IndexReason, Int>)] {
    [
      ("scans", \.scans), ("examined", \.examined), ("returned", \.returned), ("bytes", \.bytes),
    ]
  }
}
