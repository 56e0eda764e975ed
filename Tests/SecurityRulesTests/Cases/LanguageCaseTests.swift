import Testing

/// A numbered case of an expression.
struct LanguageCase: Sendable, CustomTestStringConvertible {
    var number: Int
    var expression: String
    /// The value; `nil` for an error.
    var value: Bool?

    init(_ number: Int, _ expression: String, _ value: Bool?) {
        self.number = number
        self.expression = expression
        self.value = value
    }

    var testDescription: String { "case \(number): \(expression)" }

    static let all: [LanguageCase] = [
        LanguageCase(110, "1 == 1.0", true),
        LanguageCase(111, "1 in [1.0]", false),
        LanguageCase(112, "5 / 2 == 2", true),
        LanguageCase(113, "'a' + 1 == 'a1'", nil),
        LanguageCase(114, "[1, 2][0:3] == [1, 2]", nil),
        LanguageCase(115, "'abc'[0:2] == 'ab'", true),
        LanguageCase(116, "null < 1", nil),
        LanguageCase(117, "'x' == 1", false),
        LanguageCase(118, "{'a': null}.a == null", true),
        LanguageCase(119, "{'a': 1}.b == null", nil),
        LanguageCase(120, "'foo@test.com'.replace('[.]', '-') == 'foo@test-com'", true),
        LanguageCase(120, "'foo@test.com'.replace('.', '-') == '------------'", true),
        LanguageCase(121, "'abc'.matches('b')", false),
        LanguageCase(122, "math.floor(2.5) is float", true),
        LanguageCase(123, "!(1 / 0 == 1) || true", true),
    ]
}

@Suite("Expressions")
struct LanguageCaseTests {
    @Test(arguments: LanguageCase.all)
    func `An expression has its value, or is an error`(test: LanguageCase) throws {
        #expect(try outcome(of: test.expression).value == test.value)
    }
}
