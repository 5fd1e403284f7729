internal import Glibc

/// A moment in UTC with milliseconds, written `2024-03-12T21:00:01.120Z` as the backend does.
///
/// In this form (years 0000 to 9999) moments compare as their texts do.
package struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// 1970: before anything that is stored.
  package static var distantPast: Timestamp { Timestamp(milliseconds: 0) }

  package static func now() -> Timestamp { Timestamp(milliseconds: microsecondsNow() / 1000) }

  /// Microseconds since 1970, by the system's clock: fewer than 2^53 until the year 2255.
  package static func microsecondsNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  package static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  package var description: String {
    let (days, rest) = milliseconds.quotientAndRemainderFloored(by: 86_400_000)
    let (year, month, day) = Self.civil(days: days)
    return String(unsafeUninitializedCapacity: 24) { out in
      func put(_ value: Int64, at index: Int, width: Int) {
        var value = value
        for digit in (index..<index + width).reversed() {
          out[digit] = UInt8(ascii: "0") + UInt8(value % 10)
          value /= 10
        }
      }
      put(min(max(year, 0), 9999), at: 0, width: 4)
      put(month, at: 5, width: 2)
      put(day, at: 8, width: 2)
      put(rest / 3_600_000, at: 11, width: 2)
      put(rest / 60_000 % 60, at: 14, width: 2)
      put(rest / 1000 % 60, at: 17, width: 2)
      put(rest % 1000, at: 20, width: 3)
      out[4] = UInt8(ascii: "-")
      out[7] = UInt8(ascii: "-")
      out[10] = UInt8(ascii: "T")
      out[13] = UInt8(ascii: ":")
      out[16] = UInt8(ascii: ":")
      out[19] = UInt8(ascii: ".")
      out[23] = UInt8(ascii: "Z")
      return 24
    }
  }

  /// Reads exactly the form that `description` writes; the fraction may be left out.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count == 24 || bytes.count == 20, bytes.last == UInt8(ascii: "Z") else {
      return nil
    }
    func number(at index: Int, width: Int) -> Int64? {
      var value: Int64 = 0
      for byte in bytes[index..<index + width] {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      }
      return value
    }
    func has(_ mark: Unicode.Scalar, at index: Int) -> Bool { bytes[index] == UInt8(ascii: mark) }
    guard has("-", at: 4), has("-", at: 7), has("T", at: 10), has(":", at: 13), has(":", at: 16),
      let year = number(at: 0, width: 4), let month = number(at: 5, width: 2),
      let day = number(at: 8, width: 2),
      let hour = number(at: 11, width: 2), let minute = number(at: 14, width: 2),
      let second = number(at: 17, width: 2),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
    else { return nil }
    var fraction: Int64 = 0
    if bytes.count == 24 {
      guard has(".", at: 19), let value = number(at: 20, width: 3) else { return nil }
      fraction = value
    }
    let days = Self.days(year: year, month: month, day: day)
    guard Self.civil(days: days) == (year, month, day) else { return nil }
    milliseconds = ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + fraction
  }

  /// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
  private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let (era, dayOfEra) = shifted.quotientAndRemainderFloored(by: 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  /// The inverse: days_from_civil.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = shifted.quotientAndRemainderFloored(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

extension Int64 {
  /// Division that rounds towards negative infinity, so that the remainder is never negative.
  fileprivate func quotientAndRemainderFloored(by divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
