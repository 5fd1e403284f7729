extension Array {
  /// Its elements in their order, at most `size` of them together; `size` is at least 1.
  package func chunks(of size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
