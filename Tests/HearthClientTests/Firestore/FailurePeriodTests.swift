import Testing

@testable import HearthClient

@Suite("A period of failures")
struct FailurePeriodTests {
    @Test func `It is reported every ten minutes`() {
        var period = FailurePeriod()
        #expect(period.start == nil)
        let start = ContinuousClock.now
        var reported: [Int] = []
        for minute in 0..<35 {
            if let minutes = period.recordFailure(at: start + .seconds(60 * minute)) { reported.append(minutes) }
        }
        #expect(reported == [10, 20, 30])
        #expect(period.start != nil)
    }

    @Test func `Attempts that are far apart are reported with the time since the first one`() {
        var period = FailurePeriod()
        let start = ContinuousClock.now
        #expect(period.recordFailure(at: start) == nil)
        #expect(period.recordFailure(at: start + .seconds(3_600)) == 60)
        #expect(period.recordFailure(at: start + .seconds(3_660)) == nil)
    }
}
