import Testing

@Suite("Common patterns of rules")
struct RuleCaseTests {
    @Test(arguments: RuleCase.allowed)
    func `A request that the rules cover is allowed`(test: RuleCase) throws {
        #expect(try test.isAllowed())
    }

    @Test(arguments: RuleCase.denied)
    func `A request that the rules do not cover is denied`(test: RuleCase) throws {
        #expect(try !test.isAllowed())
    }

    @Test
    func `Every case is there`() {
        let numbers = (RuleCase.allowed + RuleCase.denied).map(\.number) + LanguageCase.all.map(\.number)
        #expect(Set(numbers) == Set(1...123))
    }
}

extension RuleCase: CustomTestStringConvertible {
    var testDescription: String { "case \(number)" }
}
