import DocumentModel
import TestSupport
import Testing

@testable import SecurityRules

/// Compares calendar dates with those of stored timestamps. `HEARTH_TEST_SEED` sets the seed.
@Suite("Timestamps and dates of rules")
struct RuleTimestampTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    private func check(_ microseconds: Int64) throws {
        let stored = try Timestamp(microseconds: microseconds)
        let time = RuleTimestamp(stored)
        let numbers = stored.rfc3339.split(whereSeparator: { "-T:.Z".contains($0) }).compactMap { Int64($0) }
        let seconds = time.timeOfDay.seconds
        #expect(
            [
                Int64(time.date.year), Int64(time.date.month), Int64(time.date.day), seconds / 3_600, seconds / 60 % 60,
                seconds % 60,
                time.nanosecondsOfSecond / 1_000,
            ] == numbers,
            Self.seed
        )
        #expect(RuleTimestamp(year: numbers[0], month: numbers[1], day: numbers[2]) == time.startOfDay, Self.seed)
        #expect(time.date.daysSince1970 == CivilDate(daysSince1970: time.date.daysSince1970).daysSince1970, Self.seed)
        #expect(time.description == stored.rfc3339, Self.seed)
    }

    @Test(
        arguments: [
            Timestamp.minimum.microseconds, Timestamp.maximum.microseconds, 0, -1, -86_400_000_000, 951_782_400_000_000,
            4_107_542_399_999_999, -2_203_891_200_000_000,
        ]
    )
    func `Dates at the edges of the calendar are right`(microseconds: Int64) throws {
        try check(microseconds)
    }

    @Test
    func `Dates are those of the stored timestamp`() throws {
        var random = SeededGenerator()
        for _ in 0..<2_000 {
            try check(Int64.random(in: Timestamp.minimum.microseconds...Timestamp.maximum.microseconds, using: &random))
        }
    }

    @Test
    func `Days of the week and of the year follow each other`() throws {
        var random = SeededGenerator()
        for _ in 0..<500 {
            let day = Int.random(in: -700_000...2_000_000, using: &random)
            let time = try #require(RuleTimestamp(nanoseconds: Int128(day) * 86_400_000_000_000))
            let next = try #require(RuleTimestamp(nanoseconds: Int128(day + 1) * 86_400_000_000_000))
            #expect(next.dayOfWeek == time.dayOfWeek % 7 + 1, Self.seed)
            #expect(next.date.dayOfYear == (next.date.year == time.date.year ? time.date.dayOfYear + 1 : 1), Self.seed)
        }
    }

    @Test(
        arguments: [
            (RuleDuration(1_500, unit: "ms"), "1.5s"), (RuleDuration(-1, unit: "ns"), "-0.000000001s"),
            (RuleDuration(2, unit: "m"), "120s"),
            (RuleDuration(0, unit: "s"), "0s"),
        ]
    )
    func `Durations are shown in seconds`(duration: RuleDuration?, text: String) throws {
        #expect(try #require(duration).description == text)
    }
}
