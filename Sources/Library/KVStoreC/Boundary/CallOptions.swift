internal import KVJSON
internal import KVClient
internal import KVSync

/// Options that may be left out: a JSON object.
func options(_ start: CString?) throws(StoreError) -> JSONObject? {
  try JSONArgument(start, -1, named: "options").optionalObject()
}

/// The options of a call that may be left out.
func callOptions(_ start: CString?) throws(StoreError) -> Options? {
  guard let object = try options(start) else { return nil }
  return try Options(object)
}

/// The options of a call that writes entities by their ids, and the condition among them.
func writeOptions(
  _ start: CString?
) throws(StoreError) -> (options: Options?, condition: WriteCondition) {
  guard let object = try options(start) else { return (nil, .none) }
  return try Options.ofWrite(object)
}
