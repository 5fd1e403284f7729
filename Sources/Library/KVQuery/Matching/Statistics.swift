internal import KVJSON

/// The functions of Apple's predicates over an array beyond sums and extremes. Nil of anything else, and of an
/// array in which there is nothing to look at.
enum Statistics {
  /// The number in the middle; between two, their mean.
  static func median(_ value: JSONValue) -> JSONValue? {
    guard let numbers = numbers(of: value)?.sorted(), !numbers.isEmpty else { return nil }
    let middle = numbers.count / 2
    guard numbers.count.isMultiple(of: 2) else { return .double(numbers[middle]) }
    return .double(numbers[middle - 1] / 2 + numbers[middle] / 2)
  }

  /// The values that occur highest often, in order: an array, because there may be several.
  static func mode(_ value: JSONValue) -> JSONValue? {
    var counts: [[UInt8]: (value: JSONValue, count: Int)] = [:]
    for element in value.arrayValue ?? [] where !element.isNull {
      var encoded: [UInt8] = []
      ValueEncoding.append(element, to: &encoded)
      counts[encoded, default: (element, 0)].count += 1
    }
    guard let highest = counts.values.map(\.count).max() else { return nil }
    let winners = counts.filter { $0.value.count == highest }
    return .array(
      winners.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value.value))
  }

  /// The root of the mean square distance from the mean.
  static func deviation(_ value: JSONValue) -> JSONValue? {
    guard let numbers = numbers(of: value), !numbers.isEmpty else { return nil }
    guard let mean = mean(of: numbers) else { return nil }
    return self.mean(of: numbers.map { ($0 - mean) * ($0 - mean) }).map { .double($0.squareRoot()) }
  }

  /// The result is the same in every order.
  private static func mean(of numbers: [Double]) -> Double? {
    var sum = ExactSum()
    for number in numbers { sum.add(number) }
    return sum.mean(of: Int64(numbers.count))
  }

  private static func numbers(of value: JSONValue) -> [Double]? {
    value.arrayValue?.compactMap(\.doubleValue)
  }
}
