import StrictJSON
import Testing

@Suite("Number literals")
struct JSONNumberTests {
    private func number(_ literal: String) throws -> JSONNumber? {
        try JSONText("[\(literal)]").root.elements?.first { _ in true }?.number
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("7", 7), ("-7", -7), ("9007199254740993", 9_007_199_254_740_993),
            ("9223372036854775807", .max), ("-9223372036854775808", .min), ("-9223372036854775807", .min + 1),
            ("1000000000000000000", 1_000_000_000_000_000_000),
        ] as [(String, Int64)]
    )
    func `Literals without a fraction or exponent are 64-bit integers`(literal: String, value: Int64) throws {
        #expect(try number(literal) == .integer(value))
    }

    @Test(
        arguments: [
            ("1.0", 1), ("-1.5", -1.5), ("0.1", 0.1), ("1e0", 1), ("1E+2", 100), ("25e-2", 0.25),
            ("9007199254740993.0", 9_007_199_254_740_992), ("1e308", 1e308), ("1.7976931348623157e308", .greatestFiniteMagnitude),
            ("5e-324", .leastNonzeroMagnitude), ("1e-400", 0), ("0e999999", 0),
            ("2.2250738585072011e-308", Double(bitPattern: 0x000f_ffff_ffff_ffff)),
            ("9223372036854775808.0", 9_223_372_036_854_775_808), ("0.1000000000000000055511151231257827", 0.1),
        ] as [(String, Double)]
    )
    func `Literals with a fraction or exponent are correctly rounded doubles`(literal: String, value: Double) throws {
        #expect(try number(literal) == .double(value))
    }

    @Test(arguments: ["-0.0", "-0e0", "-0E-5", "-1e-400"])
    func `Doubles keep the sign of negative zero`(literal: String) throws {
        guard case .double(let value)? = try number(literal) else {
            Issue.record("\(literal) is not a double")
            return
        }
        #expect(value.bitPattern == (-0.0).bitPattern)
    }

    @Test(
        arguments: [
            "9223372036854775808", "-9223372036854775809", "18446744073709551616", "92233720368547758070",
            "100000000000000000000000000",
            "1e400", "-1e400", "1e309", "1.7976931348623159e308", "1.0e99999999999999999999", String(repeating: "9", count: 400),
        ]
    )
    func `Literals beyond the range of integers or doubles are out of range`(literal: String) throws {
        #expect(try number(literal) == .outOfRange)
    }
}
