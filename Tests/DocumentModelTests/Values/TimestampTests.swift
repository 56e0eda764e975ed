import DocumentModel
import TestSupport
import Testing

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.5Z", 500_000),
            ("1970-01-01T00:00:00.000001Z", 1),
            ("1970-01-01T00:00:00.000000999Z", 0),
            ("1970-01-01T00:00:00.123456789Z", 123_456),
            ("1969-12-31T23:59:59.9999999Z", -1),
            ("1970-01-01t00:00:00z", 0),
            ("1970-01-01T00:00:00+00:00", 0),
            ("1970-01-01T00:00:00-00:00", 0),
            ("1970-01-01T01:30:00+01:30", 0),
            ("1969-12-31T12:00:00-12:00", 0),
            ("1970-01-01T23:59:00+23:59", 0),
            ("1843-01-01T16:58:32Z", -4_007_689_288_000_000),
            ("2014-09-09T08:00:47Z", 1_410_249_647_000_000),
            ("2000-02-29T00:00:00Z", 951_782_400_000_000),
            ("2024-02-29T23:59:59.999999Z", 1_709_251_199_999_999),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
            ("0000-12-31T23:00:00-01:00", -62_135_596_800_000_000),
            ("9999-12-31T23:59:59.999999999Z", 253_402_300_799_999_999),
            ("9999-12-31T23:59:59.999999-00:00", 253_402_300_799_999_999),
        ]
    )
    func `RFC 3339 times with any offset are parsed, and truncated to microseconds`(text: String, microseconds: Int64) throws {
        let timestamp = try Timestamp(rfc3339: text)
        #expect(timestamp.microseconds == microseconds)
        #expect(timestamp == (try Timestamp(microseconds: microseconds)))
    }

    @Test(
        arguments: [
            "", "2014", "2014-09-09", "2014-09-09T08:00:47", "2014-09-09T08:00Z", "2014-09-09 08:00:47Z", "2014-9-9T08:00:47Z",
            "2014-09-09T08:00:47.Z", "2014-09-09T08:00:47.1234567890Z", "2014-09-09T08:00:47,5Z", "2014-09-09T08:00:47+0200",
            "2014-09-09T08:00:47+02", "2014-09-09T08:00:47+2:00", "2014-09-09T08:00:47ZZ", "2014-09-09T08:00:47Z ",
            " 2014-09-09T08:00:47Z", "2014-09-09T08:00:47Z\0", "+2014-09-09T08:00:47Z", "-0001-01-01T00:00:00Z",
            "12014-09-09T08:00:47Z", "２014-09-09T08:00:47Z", "٢٠١٤-09-09T08:00:47Z", "2014-09-09T08:00:47Z\u{301}",
            "2014-09-09T08:00:47−02:00", "20140909T080047Z", "2014-W37-2T08:00:47Z", "now",
        ]
    )
    func `Other formats are rejected`(text: String) throws {
        let error = try #require(throws: StatusError.self) { try Timestamp(rfc3339: text) }
        #expect(error.code == .invalidArgument)
        #expect(error.message.utf8.starts(with: "Expected a time in RFC 3339 format".utf8))
    }

    @Test(
        arguments: [
            ("2014-00-09T08:00:47Z", "month"), ("2014-13-09T08:00:47Z", "month"),
            ("2014-09-00T08:00:47Z", "30"), ("2014-09-31T08:00:47Z", "30"), ("2014-01-32T08:00:47Z", "31"),
            ("2014-02-29T08:00:47Z", "28"), ("1900-02-29T08:00:47Z", "28"), ("2000-02-30T08:00:47Z", "29"),
            ("2014-09-09T24:00:00Z", "hour"), ("2014-09-09T08:60:47Z", "minute"), ("2014-09-09T08:00:61Z", "second"),
            ("2016-12-31T23:59:60Z", "leap seconds"), ("1990-12-31T15:59:60-08:00", "leap seconds"),
            ("2014-09-09T08:00:47+24:00", "offset"), ("2014-09-09T08:00:47+02:60", "offset"),
        ]
    )
    func `Invalid dates and times of day are rejected`(text: String, part: String) throws {
        let error = try #require(throws: StatusError.self) { try Timestamp(rfc3339: text) }
        #expect(error.message.contains("is invalid"))
        #expect(error.message.contains(part))
    }

    @Test(
        arguments: [
            "0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00Z",
        ]
    )
    func `Times outside the years 1 to 9999 in UTC are rejected`(text: String) throws {
        let error = try #require(throws: StatusError.self) { try Timestamp(rfc3339: text) }
        #expect(error.message.contains("0001-01-01T00:00:00.000000Z"))
    }

    @Test(
        arguments: [
            Int64.min, Timestamp.minimum.microseconds - 1, Timestamp.maximum.microseconds + 1, Int64.max,
        ]
    )
    func `Microseconds outside the same range are rejected`(microseconds: Int64) {
        #expect(throws: StatusError.self) { try Timestamp(microseconds: microseconds) }
    }

    @Test(
        arguments: [
            (Timestamp.minimum.microseconds, "0001-01-01T00:00:00.000000Z"),
            (Timestamp.maximum.microseconds, "9999-12-31T23:59:59.999999Z"),
            (0, "1970-01-01T00:00:00.000000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (-4_007_689_288_000_000, "1843-01-01T16:58:32.000000Z"),
            (1_709_251_199_000_001, "2024-02-29T23:59:59.000001Z"),
        ]
    )
    func `Times are formatted in UTC with six fractional digits`(microseconds: Int64, text: String) throws {
        #expect(try Timestamp(microseconds: microseconds).rfc3339 == text)
    }

    @Test
    func `Formatted times round-trip`() throws {
        var generator = SeededGenerator()
        for _ in 0..<2_000 {
            let range = Timestamp.minimum.microseconds...Timestamp.maximum.microseconds
            let timestamp = try Timestamp(microseconds: Int64.random(in: range, using: &generator))
            #expect(try Timestamp(rfc3339: timestamp.rfc3339) == timestamp, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
        }
    }

    @Test
    func `Every date of all years round-trips, including leap days`() throws {
        var day = Timestamp.minimum.microseconds / 86_400_000_000
        for year in 1...9_999 {
            let isLeap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)
            let digits = String(String(year + 10_000).dropFirst())
            let march = try Timestamp(microseconds: (day + (isLeap ? 60 : 59)) * 86_400_000_000)
            #expect(march.rfc3339.utf8.elementsEqual("\(digits)-03-01T00:00:00.000000Z".utf8))
            #expect(try Timestamp(rfc3339: "\(digits)-03-01T00:00:00Z") == march)
            day += isLeap ? 366 : 365
        }
        #expect(day * 86_400_000_000 == Timestamp.maximum.microseconds + 1)
    }

    @Test
    func `Timestamps are ordered by time`() throws {
        #expect(Timestamp.minimum < .maximum)
        #expect(try Timestamp(microseconds: -1) < Timestamp(microseconds: 0))
    }
}
