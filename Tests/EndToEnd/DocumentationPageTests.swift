import Foundation
import StrictJSON
import TestSupport
import Testing
import UTF8Text

/// Tests of README.md and docs/: their commands run, their JSON parses, their Swift compiles and their links resolve.
///
/// A ```` ```console ```` block contains commands, each after `$ `, with the output that they print. A command whose output is not
/// shown may print anything. An HTML comment `<!-- not run: reason -->` before a block excludes it.
@Suite("Documentation", .tags(.slow), .timeLimit(.minutes(10)))
struct DocumentationPageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL

    @Test func `Commands run and print what the pages show`() async throws {
        var count = 0
        for page in try Self.pages() {
            let commands = page.blocks.filter { $0.language == "console" && !$0.isExcluded }.flatMap(\.commands)
            count += commands.count
            if !commands.isEmpty { try await check(commands, of: page) }
        }
        #expect(count > 20)
    }

    @Test func `JSON parses`() throws {
        for page in try Self.pages() {
            for block in page.blocks where block.language == "json" {
                #expect(throws: Never.self, "\(page.name): \(block.text.prefix(80))") { try JSONText(block.text) }
            }
        }
    }

    @Test func `Swift is compiled with the tests`() throws {
        let snippets = Self.root.appending(path: "Tests/EndToEnd/Client/Snippets")
        let compiled = try FileManager.default.contentsOfDirectory(at: snippets, includingPropertiesForKeys: nil)
            .map { Self.codeLines(try String(contentsOf: $0, encoding: .utf8)) }
        for page in try Self.pages() {
            for block in page.blocks where block.language == "swift" && !block.isExcluded {
                let lines = Self.codeLines(block.text)
                #expect(compiled.contains { $0.contains(lines) }, "\(page.name): \(lines.first ?? "")")
            }
        }
    }

    @Test func `Relative links resolve`() throws {
        for page in try Self.pages() {
            for target in page.relativeLinks {
                let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let file = parts[0].isEmpty ? page.url : URL(filePath: parts[0], relativeTo: page.url.deletingLastPathComponent())
                guard FileManager.default.fileExists(atPath: file.path) else {
                    Issue.record("\(page.name): no file \(target)")
                    continue
                }
                if parts.count > 1, file.pathExtension == "md" {
                    let anchors = try MarkdownPage(file.standardizedFileURL, root: Self.root).anchors
                    #expect(anchors.contains(parts[1]), "\(page.name): no section \(target)")
                }
            }
        }
    }

    /// Runs the commands of a page, in order, in a folder with the data folder `data` of a server with the example data.
    private func check(_ commands: [MarkdownPage.Command], of page: MarkdownPage) async throws {
        try await withServer { server in
            let examples = try await hearth("example", "load", "guide", "places", "--server", server.address)
            try #require(examples.status == .code(0), "\(examples)")
            let folder = server.folder.deletingLastPathComponent().path
            for command in commands {
                let line = """
                    hearth() { "$HEARTH" "$@"; }
                    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Arthur GIT_AUTHOR_EMAIL=arthur@example.com
                    export GIT_COMMITTER_NAME=Arthur GIT_COMMITTER_EMAIL=arthur@example.com
                    cd '\(folder)' && export HEARTH_SERVER=\(server.address) HEARTH_KEY="$(cat key 2>/dev/null)"
                    \(command.line.replacing("http://127.0.0.1:8080", with: server.address).replacing("curl ", with: "curl -sS --fail "))
                    status=$?; [ -n "$HEARTH_KEY" ] && printf %s "$HEARTH_KEY" > key; exit $status
                    """
                let result = try await shell(line)
                #expect(result.status == .code(0), "\(page.name): \(command.line)\n\(result)")
                if let expected = Self.shape(command.output) {
                    #expect(Self.shape(result.output) == expected, "\(page.name): \(command.line)\n\(result)")
                }
            }
        }
    }

    /// Returns the member names in a JSON value, or in one value per line; `nil` if the lines are not JSON.
    private static func shape(_ lines: [String]) -> Set<String>? {
        if let root = try? JSONText(lines.joined(separator: "\n")).root { return shape(root, at: "") }
        let texts = lines.compactMap { try? JSONText($0).root }
        guard !texts.isEmpty, texts.count == lines.count else { return nil }
        return texts.reduce(into: []) { $0.formUnion(shape($1, at: "")) }
    }

    private static func shape(_ node: JSONNode, at path: String) -> Set<String> {
        if let elements = node.elements { return elements.reduce(into: []) { $0.formUnion(shape($1, at: path + "[]")) } }
        return (node.members.map(Array.init) ?? []).reduce(into: []) { names, member in
            names.insert("\(path).\(member.key.string)")
            names.formUnion(shape(member.value, at: "\(path).\(member.key.string)"))
        }
    }

    /// Returns the lines of Swift code without indentation, empty lines and imports.
    private static func codeLines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
    }

    private static func pages() throws -> [MarkdownPage] {
        let docs = root.appending(path: "docs")
        let files = FileManager.default.enumerator(at: docs, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        let pages = try ([root.appending(path: "README.md")] + files.filter { $0.pathExtension == "md" }).map {
            try MarkdownPage($0, root: root)
        }
        #expect(pages.count > 10)
        return pages
    }
}

/// A Markdown page.
private struct MarkdownPage {
    /// A fenced code block.
    struct Block {
        let language: String
        let text: String
        /// True if a comment before the block says that it is not run.
        let isExcluded: Bool

        /// The commands of a console block.
        var commands: [Command] {
            text.split(separator: "\n").map(String.init).reduce(into: []) { commands, line in
                if line.hasPrefix("$ ") {
                    commands.append(Command(line: String(line.dropFirst(2)), output: []))
                } else if !commands.isEmpty {
                    commands[commands.count - 1].output.append(line)
                }
            }
        }
    }

    struct Command {
        let line: String
        /// The lines of output that the page shows.
        var output: [String]
    }

    let url: URL
    /// The path relative to the package.
    let name: String
    private(set) var blocks: [Block] = []
    /// The lines outside code blocks.
    private var prose: [String] = []

    init(_ url: URL, root: URL) throws {
        self.url = url
        name = String(url.path.dropFirst(root.path.count))
        var open: (language: String, lines: [String])?
        for line in try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n") {
            if let (language, lines) = open {
                guard line == "```" else {
                    open?.lines.append(line)
                    continue
                }
                let isExcluded = prose.last?.hasPrefix("<!-- not run: ") == true
                blocks.append(Block(language: language, text: lines.joined(separator: "\n"), isExcluded: isExcluded))
                prose.append("")
                open = nil
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), [])
            } else {
                prose.append(line)
            }
        }
    }

    /// The targets of all links that are not URLs.
    var relativeLinks: [String] {
        prose.joined(separator: "\n").matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }.filter { !$0.contains("://") }
    }

    /// The anchors of the headings, as GitHub generates them.
    var anchors: Set<String> {
        Set(
            prose.filter { $0.hasPrefix("#") }.map { line in
                String(
                    line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                        .map { $0 == " " ? "-" : $0 }.filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
                )
            }
        )
    }
}
