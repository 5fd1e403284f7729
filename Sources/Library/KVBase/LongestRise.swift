extension [Int] {
  /// Which elements belong to one of the longest increasing subsequences. Takes n log n steps.
  package var longestRise: [Bool] {
    // The index of the smallest last value of a rise of each length; what comes before each index.
    var ends: [Int] = []
    var before = [Int?](repeating: nil, count: count)
    for (index, value) in enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = low + (high - low) / 2
        if self[ends[middle]] < value { low = middle + 1 } else { high = middle }
      }
      before[index] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var isPart = [Bool](repeating: false, count: count)
    var next = ends.last
    while let index = next {
      isPart[index] = true
      next = before[index]
    }
    return isPart
  }
}
