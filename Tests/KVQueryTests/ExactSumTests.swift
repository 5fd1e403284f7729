import KVTestSupport
import Testing

@testable import KVQuery

@Suite("Exact sums") struct ExactSumTests {
  /// The smallest double.
  private static let tiny = Double.leastNonzeroMagnitude
  private var tiny: Double { Self.tiny }

  @Test("are rounded once")
  func rounded() {
    #expect(sum([0.1, 0.2, 0.3]) == .double(0.6))
    #expect(sum(Array(repeating: 0.1, count: 10)) == .double(1))
    #expect(sum([1e16, 1, 1e-16]) == .double(10000000000000002))
    #expect(sum([1e100, 1, -1e100]) == .int(1))
    #expect(sum([1e308, 1e308, -1e308, -1e308, tiny]) == .double(tiny))
    #expect(sum([1e308, 1e308, -1e308]) == .double(1e308))
    #expect(sum([0x1p53, 1, 0x1p-60]) == .double(0x1p53 + 2))
    #expect(sum([0x1p53, 1]) == .int(9_007_199_254_740_993))
    #expect(sum([0x1p70, 0x1p17]) == .double(0x1p70))
    #expect(sum([0x1p70, 0x1p17, tiny]) == .double(0x1p70 + 0x1p18))
    #expect(sum([0x1p70 + 0x1p18, 0x1p17]) == .double(0x1p70 + 0x1p19))
    #expect(sum([tiny, tiny]) == .double(2 * tiny))
    #expect(
      sum([Double.leastNormalMagnitude, -tiny]) == .double(Double.leastNormalMagnitude - tiny))
    #expect(sum([]) == .int(0) && sum([-0.0]) == .int(0) && sum([1e300, -1e300]) == .int(0))
  }

  @Test("of two parts are those of all")
  func parts() {
    let numbers: [[Double]] = [
      [], [0.1, 0.2], [1e300, 1, 1e-300], [-1e300, tiny], [1e308, 1e308, -3],
      [-1e308, -1e308, 0.5],
      [0x1p53, 1, 0x1p-60], [.infinity], [-tiny, -1e16, 0.3],
    ]
    for first in numbers {
      for second in numbers {
        var (lower, upper, all) = (ExactSum(), ExactSum(), ExactSum())
        for value in first { lower.add(value) }
        for value in second { upper.add(value) }
        for value in first + second { all.add(value) }
        lower.add(upper)
        lower.add(Int64.min)
        all.add(Int64.min)
        #expect(lower.number == all.number, "\(first) + \(second)")
        #expect(lower.kept == all.kept, "\(first) + \(second)")
      }
    }
  }

  @Test("of integers are integers as long as 64 bits hold them")
  func integers() {
    var all = ExactSum()
    for value in [Int64.max, .max, .min, .min, 1] { all.add(value) }
    #expect(all.number == .int(-1))
    all.add(Int64.max)
    all.add(Int64.max)
    #expect(all.number == .double(0x1p64))
    all.add(-0.5)
    #expect(all.number == .double(0x1p64))
    all.add(0x1p64)
    all.add(-0x1p65)
    #expect(all.number == .double(-3.5))
    var least = ExactSum()
    least.add(Int64.min)
    least.add(0.5)
    least.add(-0.5)
    #expect(least.number == .int(.min))
    least.add(Int64(-1))
    #expect(least.number == .double(-0x1p63))
  }

  @Test("beyond all doubles are none, and come back")
  func beyond() {
    var all = ExactSum()
    all.add(Double.greatestFiniteMagnitude)
    all.add(0x1p969)
    #expect(all.number == .double(.greatestFiniteMagnitude))
    all.add(tiny)
    #expect(all.number == .double(.greatestFiniteMagnitude))
    all.add(0x1p969)
    #expect(all.number == nil)
    #expect(all.mean(of: 2) == 0x1p1023)
    all.subtract(Double.greatestFiniteMagnitude)
    #expect(all.number == .double(0x1p970))
    all.add(Double.infinity)
    #expect(all.number == nil && all.mean(of: 9) == nil)
  }

  @Test("have a mean that is rounded once, too")
  func means() {
    func mean(_ values: [Double]) -> Double? { exact(values).mean(of: Int64(values.count)) }
    #expect(mean([1, 2]) == 1.5 && mean([]) == nil && mean([0.1]) == 0.1)
    #expect(mean([1e308, 1e308]) == 1e308)
    #expect(mean([1, 1, 0]) == 2.0 / 3 && mean([-1, -1, 0]) == -2.0 / 3)
    #expect(mean([tiny, 0]) == 0 && mean([tiny, tiny, 0]) == tiny)
    #expect(mean([3 * tiny, 0]) == 2 * tiny)
    #expect(mean([0.1, 0.2, 0.3]) == 0.2)
  }

  @Test("are the same in every order, and with what was added and taken away")
  func orders() throws {
    let seed = Seed()
    var random = seed
    for _ in 0..<200 {
      var numbers = (0..<Int.random(in: 1..<40, using: &random)).map { _ in Self.number(&random) }
      let expected = exact(numbers)
      for _ in 0..<4 {
        numbers.shuffle(using: &random)
        let others = (0..<20).map { _ in Self.number(&random) }
        var again = exact(numbers)
        others.forEach { again.add($0) }
        again = try #require(ExactSum(kept: again.kept))
        for number in others.shuffled(using: &random) {
          if case .int(let value) = number { again.subtract(value) }
          if case .double(let value) = number { again.subtract(value) }
        }
        #expect(again.number == expected.number, "\(seed)")
        #expect(again.kept == expected.kept, "\(seed)")
        #expect(again.mean(of: 7) == expected.mean(of: 7), "\(seed)")
      }
    }
  }

  /// Against the bits of integers of 128 bits.
  @Test("are what integers give")
  func againstIntegers() {
    let seed = Seed()
    var random = seed
    for _ in 0..<2_000 {
      let units = (0..<8).map { _ in Int64.random(in: -(1 << 53)...(1 << 53), using: &random) }
      let scale = Double(
        sign: .plus, exponent: Int.random(in: -1074...900, using: &random), significand: 1)
      let total = units.reduce(Int128(0)) { $0 + Int128($1) }
      #expect(
        exact(units.map { Double($0) * scale }).number.map(\.double) == Double(total) * scale,
        "\(seed)")
    }
  }

  @Test("are kept in a few bytes")
  func kept() {
    #expect(exact([1, 2.5, 0.5]).kept == .int(4))
    #expect(exact([0.1]).kept == .double(0.1))
    guard case .blob(let bytes) = exact([0.1, 0.2, 0.3]).kept else {
      Issue.record("no bytes")
      return
    }
    #expect(bytes.count < 14)
    for bytes: [UInt8] in [[], [1], [255, 255, 1], Array(repeating: 1, count: 400)] {
      #expect(ExactSum(kept: .blob(bytes)) == nil)
    }
    #expect(ExactSum(kept: .blob([0, 0]))?.number == .int(0))
    #expect(ExactSum(kept: .text([1])) == nil && ExactSum(kept: .null) == nil)
    #expect(ExactSum(kept: .double(.infinity)) == nil)
  }

  // MARK: Parts

  private func exact(_ values: [Double]) -> ExactSum { exact(values.map { .double($0) }) }

  private func exact(_ numbers: [Number]) -> ExactSum {
    var sum = ExactSum()
    for number in numbers { sum.add(number) }
    return sum
  }

  private func sum(_ values: [Double]) -> Number? { exact(values).number }

  private static func number(_ random: inout Seed) -> Number {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .int(Int64.random(in: .min ... .max, using: &random))
    case 1: .int(Int64.random(in: -9...9, using: &random))
    case 2: .double(Double.random(in: -1...1, using: &random))
    case 3: .double(Double(Int.random(in: -9999...9999, using: &random)) / 100)
    case 4:
      .double(
        [1e308, -1e308, .greatestFiniteMagnitude, tiny, -99 * tiny].randomElement(using: &random)
          ?? 0)
    default:
      .double(
        Double.random(in: -1...1, using: &random)
          * Double(sign: .plus, exponent: .random(in: -1000...1000, using: &random), significand: 1)
      )
    }
  }
}
