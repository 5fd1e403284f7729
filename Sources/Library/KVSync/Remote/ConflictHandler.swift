/// Asks the application. Runs with nothing in flight and no lock held, and may throw `.cancelled` or
/// `.timeout` if no answer came.
package typealias ConflictHandler = @Sendable (Conflict, Call) throws(StoreError) -> ConflictAnswer
