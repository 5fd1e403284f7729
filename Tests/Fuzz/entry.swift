// The entry point of one fuzz target for libFuzzer; Tests/Fuzz/run puts the target's name in.

import KVFuzzTargets

private let target = FuzzTarget.all.first { $0.name == "TARGET" }

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let target else { fatalError("there is no fuzz target TARGET") }
  target.run(UnsafeBufferPointer(start: data, count: count))
  return 0
}
