/// A page of metrics in the text format of Prometheus, version 0.0.4.
///
/// A family is begun once; the samples behind it are its own. Names are ours; the values of labels may be any text.
package struct MetricsText: Sendable {
  package enum Kind: String, Sendable { case counter, gauge, histogram }

  package typealias Label = (name: String, value: String)

  package private(set) var bytes: [UInt8] = []
  private var family = ""

  package init() {}

  /// Begins a family of samples. `help`: one sentence without line ends.
  package mutating func begin(_ name: String, _ kind: Kind, help: String) {
    family = name
    bytes += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8
  }

  /// Adds a sample of the family. `suffix`: of its name, as `_bucket`.
  package mutating func add(_ value: Double, suffix: String = "", _ labels: [Label] = []) {
    bytes += family.utf8
    bytes += suffix.utf8
    if !labels.isEmpty {
      let texts = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
      bytes += "{\(texts.joined(separator: ","))}".utf8
    }
    bytes += " \(Self.text(of: value))\n".utf8
  }

  package mutating func add(_ value: Int, suffix: String = "", _ labels: [Label] = []) {
    add(Double(value), suffix: suffix, labels)
  }

  /// Adds a family with one sample.
  package mutating func add(_ name: String, _ kind: Kind, help: String, value: Double) {
    begin(name, kind, help: help)
    add(value)
  }

  package mutating func add(_ name: String, _ kind: Kind, help: String, value: Int) {
    add(name, kind, help: help, value: Double(value))
  }

  /// Integers without a fraction: a count of 17 is not 17.0.
  static func text(of value: Double) -> String {
    if let integer = Int64(exactly: value) { return String(integer) }
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return value.description
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
