import Testing

@testable import KVQuery

@Suite("Reduce functions") struct ReduceFunctionTests {
  private typealias Members = [(String, Grouping.Aggregate)]

  @Test("of the SDKs are recognised")
  func known() {
    expect("function(doc,out){ out.count++; }", [("count", .count)])
    expect("function(doc, out) { out.count += 1; }", [("count", .count)])
    expect("function(doc,out){ out._result = out._result + 1;}", [("_result", .count)])
    expect("function(doc,out){ out.sum += doc.age; }", [("sum", .sum(Path("age")))])
    expect("function (doc, out) { out.sum += doc[\"a.b\"]; }", [("sum", .sum(Path("a.b")))])
    expect(
      "function(doc,out){ out.result = out.result + doc.x.y;}", [("result", .sum(Path("x.y")))])
    expect(
      "function(doc,out){ out.min = Math.min(out.min, doc.n); }", [("min", .minimum(Path("n")))])
    expect("function(d,o){o.max=Math.max(d['n'],o['max'])}", [("max", .maximum(Path("n")))])
  }

  @Test("that average are recognised in all their forms")
  func averages() {
    let n = Path("n")
    expect(
      "function(doc,out){ out.count++; out.sum += doc.n; out.avg = out.sum / out.count; }",
      [("count", .numbers(n)), ("sum", .sum(n)), ("avg", .average(n))])
    expect(
      "function(doc,out){ out.sum += doc.n; out.count += 1; out.avg = out.sum / out.count }",
      [("sum", .sum(n)), ("count", .numbers(n)), ("avg", .average(n))])
    expect(
      """
      function(doc, out) { out.average = (out.average * out.count + doc["n"]) / (out.count + 1);
        out.count += 1; }
      """, [("average", .average(n)), ("count", .numbers(n))])
    expect(
      """
      function(doc,out){ var count = (out._kinvey_count == undefined) ? 0 : out._kinvey_count;
        out._result =(out._result * count + doc.n) / (count + 1); out._kinvey_count = count+1;}
      """, [("_result", .average(n)), ("_kinvey_count", .numbers(n))])
  }

  /// The letters that the published SDKs send, with a field `n`.
  @Test("of every published SDK are recognised")
  func published() {
    let n = Path("n")
    // JavaScript 3 to 8.
    expect("function(doc, out) {  out.count += 1;  return out;}", [("count", .count)])
    expect("function(doc, out) { out.count += 1; return out; }", [("count", .count)])
    expect("function(doc, out) { out.sum += doc[\"n\"]; return out; }", [("sum", .sum(n))])
    expect(
      "function(doc, out) {  out.max = Math.max(out.max, doc[\"n\"]);  return out;}",
      [("max", .maximum(n))])
    expect(
      "function(doc, out) {  out.min = Math.min(out.min, doc[\"n\"]);  return out;}",
      [("min", .minimum(n))])
    expect(
      "function(doc, out) {  out.average = (out.average * out.count + doc[\"n\"]) / (out.count + 1);  out.count += 1;  return out;}",
      [("average", .average(n)), ("count", .numbers(n))])
    expect(
      #"function(doc, out) { out.sum += doc["it\'s"]; return out; }"#, [("sum", .sum(Path("it's")))]
    )
    // JavaScript 1: a function as its engine prints it.
    expect(
      "function (doc, out) {\n        out.result += 1;\n      }", [("result", .count)])
    expect("function(a,b){b.result+=1}", [("result", .count)])
    // .NET.
    expect("function(doc,out){ out.result += doc.n; }", [("result", .sum(n))])
    expect(
      "function(doc,out){ out.result = (((out.result * out.count) + doc.n) / (out.count += 1)); }",
      [("result", .average(n)), ("count", .numbers(n))])
    // Swift.
    expect(
      "function(doc, out) { out.count++; out.sum += doc.n; out.avg = out.sum / out.count; }",
      [("count", .numbers(n)), ("sum", .sum(n)), ("avg", .average(n))])
    // Objective-C.
    expect("function(doc,out){ out.sum = out.sum + doc.n;}", [("sum", .sum(n))])
    expect(
      "function(doc,out){ var count = (out._kcs_count == undefined) ? 0 : out._kcs_count; out.avg = (out.avg * count + doc.n) / (count + 1); out._kcs_count = count+1;}",
      [("avg", .average(n)), ("_kcs_count", .numbers(n))])
    // Android; 4 renamed what it found in its texts.
    expect("function(doc,out){ out._result++;}", [("_result", .count)])
    expect(
      "function(doc,out){ out._result = Math.minBlocking(out._result, doc.n);}",
      [("_result", .minimum(n))])
    expect(
      "function(doc,out){ var countBlocking = (out._kcs_count == undefined) ? 0 : out._kcs_count; out._result =(out._result * countBlocking + doc.n) / (countBlocking + 1); out._kcs_count = countBlocking+1;}",
      [("_result", .average(n)), ("_kcs_count", .numbers(n))])
  }

  @Test("are understood with other parentheses and the other way round")
  func orders() {
    let n = Path("n")
    expect("function(doc,out){ ++out.c; out.s = doc.n + out.s; }", [("c", .count), ("s", .sum(n))])
    expect(
      "function(d,o){ o.c = (1 + o.c); o.s = ((o.s) + (d.n)); }", [("c", .count), ("s", .sum(n))])
    expect(
      "function(d,o){ o.a = (d.n + o.c * o.a) / (1 + o.c); o.c++ }",
      [("a", .average(n)), ("c", .numbers(n))])
    expect(
      "function(d,o){ o.a = (d.n + o.c * o.a) / ++o.c }", [("a", .average(n)), ("c", .numbers(n))])
  }

  @Test("that compute several numbers, each where there is one, are recognised")
  func several() {
    expect(
      """
      function(doc,out){ out.n++; if (typeof doc.a === "number") { out.s += doc.a; out.c++; }
        if (doc.b != null && typeof doc.b.c == 'number') out.m = Math.max(out.m, doc.b.c); }
      """,
      [
        ("n", .count), ("s", .sum(Path("a"))), ("c", .numbers(Path("a"))),
        ("m", .maximum(Path("b.c"))),
      ])
    expect("function(doc,out){ out.n++; out.m++; }", [("n", .count), ("m", .count)])
  }

  @Test(
    "that are anything else are not",
    arguments: [
      "", "function", "function(doc,out){}", "function(doc,doc){ doc.n++; }",
      "function(doc,out){ out.n++; out.n++; }", "function(doc,out){ out.n += 2; }",
      "function(doc,out){ out.n -= doc.x; }", "function(doc,out){ out.n += doc.x * 2; }",
      "function(doc,out){ out.n = out.m + doc.x; }", "function(doc,out){ if (doc.x) out.n++; }",
      "function(doc,out){ out.n = Math.min(out.m, doc.x); }",
      "function(doc,out){ out.n = Math.pow(out.n, doc.x); }",
      "function(doc,out){ out.n++; } function x(){}", "function(doc,out){ out.n += doc[x]; }",
      "function(doc,out){ out.c++; out.s += doc.x; out.a = out.c / out.s; }",
      "function(doc,out){ out.a = out.s / out.c; out.c++; out.s += doc.x; }",
      "function(doc,out){ out.a = (out.a * out.c + doc.x) / (out.d + 1); out.c++; }",
      "function(doc,out){ out.c++; out.a = (out.a * out.c + doc.x) / (out.c + 1); }",
      "function(doc,out){ out.c++; out.s += doc.x; out.t += doc.y; out.a = out.s / out.c; out.b = out.t / out.c; }",
      "function(doc,out){ if (typeof doc.x === \"number\") out.n += doc.y; }",
      "function(doc,out){ if (typeof doc.x === \"string\") out.n++; }",
      "function(doc,out){ if (doc.y != null && typeof doc.x === \"number\") out.n++; }",
      "function(doc,out){ if (typeof doc.x === \"number\") { if (typeof doc.y === \"number\") out.n++; } }",
      "function(doc,out){ out.n += doc['a\\n']; }", "out.n++", "function(doc,out){ out.n++",
      "function(doc,out){ out.n++; return out", "function(doc,out){ out.n++; return doc; }",
      "function(doc,out){ return out; out.n++; }",
      "function(doc,out){ out.n++; return out; out.m++; }",
      "function(doc,out){ if (typeof doc.x === \"number\") { out.n++; return out; } }",
      "function(doc,out){ out.n++; return out; } }",
      "function(doc,out){ out.a = out.b = out.b + 1; }",
      "function(doc,out){ out.a = ((out.a * out.c) + doc.n) / (out.d += 1); }",
      "function(doc,out){ out.a = ((out.a * out.c) + doc.n) / (out.c += 2); }",
      "function(doc,out){ out.a = ((out.a * out.c) * doc.n) / (out.c += 1); }",
      "function(doc,out){ out.a = out.a + out.a; }",
      "function(doc,out){ out.a = Math.min(doc.x, doc.y); }",
      "function(doc,out){ out.a = Math.minimum(out.a, doc.y); }",
      "function(doc,out){ var c = out.c == undefined ? 0 : out.c; out.c++; out.s += doc.n; out.a = out.s / c; }",
      "function(doc,out){ out.\u{E9} += doc.x; out.e\u{301} += doc.x; out.\u{E9}++; }",
    ])
  func unknown(source: String) { #expect(ReduceFunction(source) == nil) }

  @Test("of any length and kind crash nothing")
  func hostile() {
    #expect(ReduceFunction(String(repeating: "(", count: 1_000_000)) == nil)
    let deep = String(repeating: "(", count: 4_000)
    #expect(ReduceFunction("function(doc,out){ out.n = \(deep)out.n + 1; }") == nil)
    #expect(ReduceFunction("function(doc,out){ out.n += doc.\u{1F600}; }") == nil)
  }

  private func expect(_ source: String, _ members: Members) {
    #expect(
      ReduceFunction(source)?.members == members.map { Grouping.Member($0.0, $0.1) }, "\(source)")
  }
}
