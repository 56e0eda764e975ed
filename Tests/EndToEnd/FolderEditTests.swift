import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing
import UTF8Text

@testable import HearthWire

/// Edits of document files by the programs that people use.
@Suite("Edits by other programs", .timeLimit(.minutes(10))) struct FolderEditToolTests {
    /// Runs a shell script in the folder of the documents, if its programs are installed.
    private func run(_ script: String, in server: EndToEndServer, needing programs: String...) throws -> Bool {
        for program in programs where try ChildProcess.run("/bin/sh", ["-c", "command -v \(program) >/dev/null"]) != .code(0) {
            return false
        }
        let folder = server.folder.appendingPathComponent("documents").path
        let result = try ChildProcess.run("/bin/sh", ["-ec", "cd '\(folder)'\n\(script)"])
        #expect(result == .code(0), "\(script)")
        return true
    }

    @Test func `Listeners see what sed, jq, cp, mv, tar and git do to the files`() async throws {
        try await withServer(arguments: ["--folder-edit-quiet-ms", "50"]) { server in
            let db = server.firestore
            try await db.document("books/a").setData(["title": "first", "n": 1])
            var snapshots = db.collection("books").snapshots.makeAsyncIterator()
            /// Waits for a result: the titles by ID.
            func expect(_ expected: [String: String], after program: String) async throws {
                while let snapshot = try await snapshots.next() {
                    let titles = snapshot.documents.map { ($0.documentID, $0.get("title") as? String ?? "") }
                    if Dictionary(uniqueKeysWithValues: titles) == expected { return }
                }
                Issue.record("No result after \(program)")
            }
            try await expect(["a": "first"], after: "the first write")
            if try run("sed -i 's/first/by sed/' books/a.json", in: server, needing: "sed") {
                try await expect(["a": "by sed"], after: "sed")
            }
            let jq = """
                jq '.title = "by jq" | del(."$document")' books/a.json >../new
                cp ../new books/b.json
                mv ../new books/a.json
                """
            if try run(jq, in: server, needing: "jq") {
                try await expect(["a": "by jq", "b": "by jq"], after: "jq, cp and mv")
                _ = try run("mv books/b.json books/c.json", in: server)
                try await expect(["a": "by jq", "c": "by jq"], after: "mv")
                _ = try run("rm books/c.json", in: server)
                try await expect(["a": "by jq"], after: "rm")
            }
            let git = """
                export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@y GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@y
                git init -q && git add . && git commit -qm one
                """
            if try run(git, in: server, needing: "git") {
                try await db.document("books/a").updateData(["title": "later"])
                try await expect(["a": "later"], after: "a write")
                _ = try run("git checkout -q -- books && rm -rf .git", in: server)
                try await expect(["a": "by jq"], after: "git checkout")
            }
            _ = try run("tar cf ../all.tar books && rm -r books", in: server)
            try await expect([:], after: "rm -r")
            _ = try run("tar xf ../all.tar", in: server)
            try await expect(["a": "by jq"], after: "tar")
            try await db.terminate()
        }
    }

    /// Runs `hearth files`.
    private func files(_ command: String, _ server: EndToEndServer) async throws -> CommandResult {
        try await hearth("files", command, "--server", server.address)
    }

    @Test func `A rejected edit is told by commands, the overview and metrics until its file is gone`() async throws {
        try await withServer(arguments: ["--folder-edit-quiet-ms", "20"]) { server in
            let document = server.firestore.document("books/a")
            try await document.setData(["title": "first"])
            try Data("{\"title\": yes}".utf8).write(to: server.file("books/a"))
            let rejected = server.file("books/a").appendingPathExtension("rejected")
            while !FileManager.default.fileExists(atPath: rejected.path) { try await Task.sleep(for: .milliseconds(10)) }
            let problems = try await files("problems", server)
            #expect(problems.status == .code(1))
            #expect(problems.output.first == "documents/books/a.json.rejected:1:11")
            #expect(problems.output.last?.hasPrefix("  rejected: The file is not valid JSON") == true)
            let sentence = "! 1 edit of files did not become commits: run hearth files problems."
            while try await !hearth("status", "--server", server.address).output.contains(sentence) {
                try await Task.sleep(for: .milliseconds(100))
            }
            let overview = String(decoding: try await server.connection.contents(at: "/admin/"), as: UTF8.self)
            #expect(overview.contains("documents/books/a.json.rejected:1:11"))
            #expect(try await document.getDocument().get("title") as? String == "first")
            try FileManager.default.removeItem(at: rejected)
            while try await files("problems", server).status != .code(0) { try await Task.sleep(for: .milliseconds(10)) }
        }
    }

    @Test func `A folder that disappears is no deletion until a person says so`() async throws {
        try await withServer(arguments: ["--folder-edit-quiet-ms", "20", "--folder-edit-deletions", "3"]) { server in
            let books = server.firestore.collection("books")
            func count() async throws -> Int {
                Int(truncating: try await books.count.getAggregation(source: .server).count as NSNumber)
            }
            for number in 0..<5 { try await books.document("b\(number)").setData(["n": number]) }
            // Moved, so that all files disappear at once.
            let folder = server.file("books/b0").deletingLastPathComponent()
            try FileManager.default.moveItem(at: folder, to: server.folder.appendingPathComponent("away"))
            while try await files("problems", server).status == .code(0) { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await count() == 5)
            #expect(try await files("accept-removed", server).status == .code(0))
            while try await count() != 0 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await files("problems", server).status == .code(0))
        }
    }

    @Test func `Saved edits survive a kill, and those made before the next start are found`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            let arguments = ["--folder-edit-quiet-ms", "20"]
            var server = try await EndToEndServer(data: data, arguments: arguments)
            for round in 1...3 {
                try Data(#"{"n": \#(round)}"#.utf8).createFile(at: server.file("c/a"))
                try await wait(for: round, in: server)
                _ = try await server.stop(with: SIGKILL)
                try Data(#"{"n": \#(10 * round)}"#.utf8).createFile(at: server.file("c/a"))
                server = try await EndToEndServer(data: data, arguments: arguments)
                try await wait(for: 10 * round, in: server)
            }
            #expect(try await server.stop() == .code(0))
        }
    }
}

/// Waits until the document of the tests has a number, as of a commit: a file without times is not read as a document.
private func wait(for number: Int, in server: EndToEndServer) async throws {
    let path = try DocumentPath("c/a")
    while try await (try? server.connection.document(at: path))?.decoded().fields["n"] != .integer(Int64(number)) {
        try await Task.sleep(for: .milliseconds(10))
    }
}

extension Data {
    fileprivate func createFile(at url: URL) throws {
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try write(to: url)
    }
}
