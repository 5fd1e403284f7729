// Schemas: the input is a schema, a NUL, and a record. What is refused is so at a position of the text. What is accepted
// is additive to itself, and checks the record for each model without a crash; a record that has been completed stays
// as it is.

import KVBase
import KVJSON
import KVModels

func fuzzSchema(_ bytes: UnsafeBufferPointer<UInt8>) {
  let cut = bytes.firstIndex(of: 0) ?? bytes.endIndex
  let text = String(decoding: bytes[..<cut], as: UTF8.self)
  let schema: ModelSchema
  do throws(SchemaError) { schema = try ModelSchema(sdl: text) } catch {
    let lines = text.utf8.count(where: { $0 == 0x0A || $0 == 0x0D }) + 1
    check((1...lines).contains(error.location.line), "an error is past the end")
    return
  }
  check(SchemaChanges(from: schema, to: schema).isAdditive, "a schema differs from itself")
  let record = Array(bytes[min(cut + 1, bytes.count)...])
  for model in schema.models {
    check(!model.primaryKey.isEmpty, "a model has no key")
    let validator = ModelValidator(model, in: schema)
    guard let completed = try? validator.completed(record) else { continue }
    check((try? validator.completed(completed)) == completed, "a record is completed twice")
  }
}
