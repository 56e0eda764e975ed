import Logging
import Testing

@testable import HearthCLI

@Suite("Limit on repeated log entries")
struct RepetitionLimitTests {
    @Test
    func `The first entries with a message pass, the others are counted, and a new period begins anew`() {
        let limit = RepetitionLimit()
        let count = RepetitionLimit.maximumCount
        for _ in 0..<2 {
            let passed = (0..<count + 1_234).count { _ in limit.passes("Request failed", level: .error) }
            #expect(passed == count)
            #expect(limit.passes("Other", level: .warning))
            let suppressed = limit.beginPeriod()
            #expect(suppressed.map(\.message) == ["Request failed"])
            #expect(suppressed.map(\.count) == [1_234])
        }
        #expect(limit.beginPeriod().isEmpty)
    }

    @Test(arguments: [Logger.Level.debug, .info, .critical])
    func `Requests and critical entries are not limited`(level: Logger.Level) {
        let limit = RepetitionLimit()
        #expect((0..<1_000).allSatisfy { _ in limit.passes("Request", level: level) })
    }
}
