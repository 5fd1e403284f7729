extension Timestamp {
  /// Reads a moment as HTTP writes it, in any of the three forms of RFC 9110 §5.6.7:
  /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
  package init?(http text: String) {
    let words = text.utf8.split { $0 == 0x20 || $0 == UInt8(ascii: "-") }.map {
      String(decoding: $0, as: UTF8.self)
    }
    switch words.count {
    // Sun, 06 Nov 1994 08:49:37 GMT, with or without hyphens
    case 6 where words[5] == "GMT":
      self.init(day: words[1], month: words[2], year: words[3], time: words[4])
    // Sun Nov 6 08:49:37 1994
    case 5: self.init(day: words[2], month: words[1], year: words[4], time: words[3])
    default: return nil
    }
  }

  private init?(day: String, month: String, year: String, time: String) {
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    guard let number = months.firstIndex(of: month), day.utf8.count <= 2 else { return nil }
    // Two digits mean the century around us: the form is older than this one.
    let century = year.utf8.count == 2 ? (year < "70" ? "20" : "19") : ""
    func two(_ text: String) -> String { text.utf8.count == 1 ? "0" + text : text }
    self.init("\(century)\(year)-\(two(String(number + 1)))-\(two(day))T\(time)Z")
  }
}
