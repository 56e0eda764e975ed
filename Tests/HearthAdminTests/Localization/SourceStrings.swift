import Foundation

@testable import HearthAdmin

/// The English user-visible strings in templates and sources.
struct SourceStrings {
    private(set) var plain: Set<String> = []
    /// The plural forms of strings with a number.
    private(set) var counted: Set<String> = []
    /// Calls whose string cannot be extracted.
    private(set) var errors: [String] = []

    /// Collects the strings.
    init() throws {
        try Self.forEachFile(in: "Templates", suffix: ".mustache") { _, text in
            plain.formUnion(TranslatableTemplate(text).strings)
        }
        try Self.forEachFile(in: "Sources/HearthAdmin", suffix: ".swift") { name, text in
            collect(from: text, in: name)
        }
    }

    private mutating func collect(from source: String, in name: String) {
        let code = source.replacing(/\/\/[^\n]*/, with: "")
        let plain = code.matches(of: /\blocalized\(\s*"((?:[^"\\]|\\.)*)"/)
        let counted = code.matches(
            of: /\blocalized\(\s*count:[^"]*one:\s*"((?:[^"\\]|\\.)*)",\s*other:\s*"((?:[^"\\]|\\.)*)"/
        )
        for match in plain { self.plain.insert(unescaped(match.1)) }
        for match in counted { self.counted.insert(unescaped(match.2)) }
        let calls = code.matches(of: /(func )?\blocalized\(/).filter { $0.1 == nil }.count
        if calls != plain.count + counted.count {
            errors.append("\(name): every localized(…) needs string literals as its strings, and a count without quotes")
        }
    }

    private mutating func unescaped(_ literal: Substring) -> String {
        let text = String(literal).replacing("\\\"", with: "\"")
        if text.contains("\\") { errors.append("a string has an escape: \(text)") }
        return text
    }

    /// Calls a closure with the name and text of each file with a suffix in a folder of the repository.
    static func forEachFile(in folder: String, suffix: String, _ body: (String, String) throws -> Void) throws {
        let folder = TestSite.repository.appending(path: folder)
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() where name.hasSuffix(suffix) {
            try body(name, String(contentsOf: folder.appending(path: name), encoding: .utf8))
        }
    }
}
