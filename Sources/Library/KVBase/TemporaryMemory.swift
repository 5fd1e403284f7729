/// Lends `body` memory for `capacity` values, on the stack if it is small. The memory is not initialised.
///
/// Swift's own function, as a function that throws an error of a known type: the standard library has had that
/// since 6.3 only, and the library for arm64 is compiled with an older one.
@inlinable
package func withTemporaryMemory<T, R, E: Error>(
  of type: T.Type, capacity: Int, _ body: (UnsafeMutableBufferPointer<T>) throws(E) -> R
) throws(E) -> R {
  let result = withUnsafeTemporaryAllocation(of: type, capacity: capacity) {
    memory -> Result<R, E> in
    do throws(E) {
      return .success(try body(memory))
    } catch {
      return .failure(error)
    }
  }
  return try result.get()
}
