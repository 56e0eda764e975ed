import DocumentModel
import Foundation
import SecurityRules
import StrictJSON
import Testing

@Suite("The suite of a shared list")
struct SharedListTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    private func report(_ rules: String) throws -> RulesTestReport {
        let suite = try RulesTestSuite(JSONText(Self.text("shared-list.suite.json")))
        return suite.run(on: try Ruleset(rules), at: RulesFixtures.time)
    }

    @Test
    func `Every case passes`() throws {
        let report = try report(Self.text("shared-list.rules"))
        #expect(report.results.filter { !$0.isSuccess }.map(\.name).isEmpty)
        #expect(report.results.count == 18)
        #expect(report.issues.isEmpty)
    }

    @Test(
        arguments: [
            ("(isOwner(resource.data) || ", "(true || ", "A member does not share the list"),
            ("allow delete: if isOwner", "allow delete: if isMember", "A member does not delete the list"),
            ("list().itemCount + 1", "listAfter().itemCount", "An item that is not counted is refused"),
            ("request.time < list().closes", "true", "Nothing is added once the list is closed"),
            ("allow read: if isMember(resource.data)", "allow read: if isSignedIn()", "A query of all lists is refused"),
        ]
    )
    func `A hole in the rules fails a case`(part: String, hole: String, name: String) throws {
        let rules = try Self.text("shared-list.rules").replacing(part, with: hole)
        #expect(try report(rules).results.filter { !$0.isSuccess }.map(\.name).contains(name))
    }

    @Test
    func `Every expression of the rules is evaluated`() throws {
        let rules = try Ruleset(Self.text("shared-list.rules"))
        let suite = try RulesTestSuite(JSONText(Self.text("shared-list.suite.json")))
        let coverage = suite.run(on: rules, at: RulesFixtures.time).coverage
        #expect(coverage.lines(of: rules).filter { $0.hasSuffix("never evaluated") }.isEmpty)
    }
}
