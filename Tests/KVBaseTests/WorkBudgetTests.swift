import KVBase
import Testing

@Suite("Work budgets") struct WorkBudgetTests {
  /// Whether so many questions are enough to see that the budget is exhausted.
  private func isSeen(_ budget: WorkBudget, within questions: Int = 64) -> Bool {
    (0..<questions).contains { _ in budget.isExhausted }
  }

  @Test("work may go on for ever without bounds, and nobody can cancel everybody's")
  func unlimited() {
    WorkBudget.unlimited.cancel()
    #expect(!isSeen(.unlimited, within: 1000))
    #expect(WorkBudget.unlimited.exhaustion == nil)
  }

  @Test("work may go on before its deadline and not after it")
  func deadline() {
    let open = WorkBudget(until: .after(seconds: 1000))
    #expect(!isSeen(open, within: 1000))
    #expect(open.exhaustion == nil)
    let over = WorkBudget(until: .after(seconds: 0))
    #expect(isSeen(over))
    #expect(over.exhaustion == .timeIsOver)
  }

  @Test("seconds of work run between resume and pause only")
  func pausing() {
    let budget = WorkBudget(seconds: 0)
    #expect(!isSeen(budget, within: 1000))
    budget.resume()
    #expect(budget.exhaustion == .timeIsOver)
    let patient = WorkBudget(seconds: 1000)
    for _ in 0..<3 {
      patient.resume()
      #expect(!isSeen(patient))
      patient.pause()
    }
    let fixed = WorkBudget(until: .after(seconds: 0))
    fixed.resume()
    #expect(fixed.exhaustion == .timeIsOver)
  }

  @Test("cancelled work ends at the next question, and the first reason counts")
  func cancelling() {
    let budget = WorkBudget(until: .after(seconds: 0))
    budget.cancel()
    #expect(budget.isExhausted)
    #expect(budget.exhaustion == .cancelled)
    let late = WorkBudget(until: .after(seconds: 0))
    #expect(late.exhaustion == .timeIsOver)
    late.cancel()
    #expect(late.exhaustion == .timeIsOver)
  }

  @Test("work ends when whoever asked for it has gone, who is not asked at every step")
  func abandoned() {
    let asked = Monitor(0)
    let budget = WorkBudget(until: .never) {
      asked.withLock { $0 += 1 }
      return true
    }
    let end = Deadline.after(seconds: 60)
    while !budget.isExhausted, !end.hasPassed {}
    #expect(budget.exhaustion == .abandoned)
    #expect(asked.withLock { $0 } == 1)
  }
}
