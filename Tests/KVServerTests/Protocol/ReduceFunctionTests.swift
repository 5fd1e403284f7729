import Testing

@testable import KVServer

@Suite("Reduce functions") struct ReduceFunctionTests {
  @Test("of the SDKs are recognised")
  func known() {
    expect("function(doc,out){ out.count++; }", .count, "count")
    expect("function(doc, out) { out.count += 1; }", .count, "count")
    expect("function(doc,out){ out._result = out._result + 1;}", .count, "_result")
    expect("function(doc,out){ out.sum += doc.age; }", .sum, "sum", "age")
    expect("function (doc, out) { out.sum += doc[\"a.b\"]; }", .sum, "sum", "a.b")
    expect("function(doc,out){ out.result = out.result + doc.x.y;}", .sum, "result", "x.y")
    expect("function(doc,out){ out.min = Math.min(out.min, doc.n); }", .minimum, "min", "n")
    expect("function(d,o){o.max=Math.max(d['n'],o['max'])}", .maximum, "max", "n")
  }

  @Test("that average are recognised in all their forms")
  func averages() {
    expect(
      "function(doc,out){ out.count++; out.sum += doc.n; out.avg = out.sum / out.count; }",
      .average(sum: "sum", count: "count"), "avg", "n")
    expect(
      "function(doc,out){ out.sum += doc.n; out.count += 1; out.avg = out.sum / out.count }",
      .average(sum: "sum", count: "count"), "avg", "n")
    expect(
      """
      function(doc, out) { out.average = (out.average * out.count + doc["n"]) / (out.count + 1);
        out.count += 1; }
      """, .average(sum: nil, count: "count"), "average", "n")
    expect(
      """
      function(doc,out){ var count = (out._kinvey_count == undefined) ? 0 : out._kinvey_count;
        out._result =(out._result * count + doc.n) / (count + 1); out._kinvey_count = count+1;}
      """, .average(sum: nil, count: "_kinvey_count"), "_result", "n")
  }

  @Test(
    "that are anything else are not",
    arguments: [
      "", "function", "function(doc,out){}", "function(doc,doc){ doc.n++; }",
      "function(doc,out){ out.n++; out.m++; }", "function(doc,out){ out.n += 2; }",
      "function(doc,out){ out.n -= doc.x; }", "function(doc,out){ out.n += doc.x * 2; }",
      "function(doc,out){ out.n = out.m + doc.x; }", "function(doc,out){ if (doc.x) out.n++; }",
      "function(doc,out){ out.n = Math.min(out.m, doc.x); }",
      "function(doc,out){ out.n = Math.pow(out.n, doc.x); }",
      "function(doc,out){ out.n++; } function x(){}", "function(doc,out){ out.n += doc[x]; }",
      "function(doc,out){ out.c++; out.s += doc.x; out.a = out.c / out.s; }",
      "function(doc,out){ out.a = (out.a * out.c + doc.x) / (out.d + 1); out.c++; }",
      "function(doc,out){ out.n += doc['a\\'b']; }", "out.n++", "function(doc,out){ out.n++",
    ])
  func unknown(source: String) { #expect(ReduceFunction(source) == nil) }

  @Test("of any length and kind crash nothing")
  func hostile() {
    #expect(ReduceFunction(String(repeating: "(", count: 1_000_000)) == nil)
    #expect(ReduceFunction("function(doc,out){ out.n += doc.\u{1F600}; }") == nil)
  }

  private func expect(
    _ source: String, _ kind: ReduceFunction.Kind, _ result: String, _ field: String = ""
  ) {
    let function = ReduceFunction(source)
    #expect(function?.kind == kind, "\(source)")
    #expect(function?.result == result && function?.field == field, "\(source)")
  }
}
