import DocumentModel
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

/// Rules and forms for tests.
enum RulesTestData {
    /// Returns a rules file with statements in the database's documents, whose wildcard is `d`. They begin on line 4.
    static func rules(_ statements: String) -> String {
        """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{d}/documents {
            \(statements)
          }
        }

        """
    }

    /// Returns a URL-encoded form.
    static func form(_ fields: KeyValuePairs<String, String>) -> String {
        fields.map { "\($0.key)=\(PercentEncoding.encode(UTF8Key($0.value)))" }.joined(separator: "&")
    }
}

extension HTMLPage {
    /// Checks that a page has no scripts, styles, handlers and elements other than its own.
    func checkInert(_ comment: Comment? = nil) throws {
        #expect(try all("//script").allSatisfy { $0["src"]?.hasPrefix("/admin/assets/") == true && $0.text.isEmpty }, comment)
        #expect(try all("//img").count == 1, comment)
        #expect(try all("//style|//iframe|//object|//embed|//base|//b").isEmpty, comment)
        for form in try all("//form") { #expect(form["action"]?.utf8.starts(with: "/admin/".utf8) == true, comment) }
        let handlers = try all("//*").flatMap { $0.attributes.map(\.name) }
            .filter { $0.hasPrefix("on") || $0 == "style" || $0 == "srcdoc" }
        #expect(handlers == [], comment)
        for link in try all("//a[@href]") {
            #expect(link["href"]?.utf8.first == UInt8(ascii: "/") || link["href"]?.utf8.first == UInt8(ascii: "#"), comment)
        }
    }
}

extension TestSite {
    /// Sets the rules, as another administrator does.
    @discardableResult
    func setRules(_ text: String) async throws(StatusError) -> ActiveRules {
        try await SetRules.call(.text(text), in: pages.context)
    }

    /// The text of the active rules.
    var activeRules: String? { pages.context.rules.active?.text }
}
