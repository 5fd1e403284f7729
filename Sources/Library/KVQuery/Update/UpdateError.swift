/// Why an update does not fit what is stored. The message is completed with the path by `EntityUpdate`.
struct UpdateError: Error {
  let message: String
  init(_ message: String) { self.message = message }
}
