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
        // Longer than a busy rm takes from a file to its folder, which the store would remove with the last document.
        try await withServer(arguments: ["--folder-edit-quiet-ms", "500"]) { server in
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

    /// The number of files that are copied at once, from `HEARTH_COPIED_FILES`.
    private static let copiedFiles = ProcessInfo.processInfo.environment["HEARTH_COPIED_FILES"].flatMap { Int($0) } ?? 400

    @Test func `All files that one rsync copies become documents, with any modification times`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            let server = try await EndToEndServer(data: data, arguments: ["--folder-edit-quiet-ms", "50"])
            let source = folder.appendingPathComponent("source")
            for version in 1...2 {
                for number in 0..<Self.copiedFiles {
                    let file = source.appendingPathComponent("c\(number % 5)/d\(number).json")
                    if number < 5 {
                        try FileManager.default.createDirectory(
                            at: file.deletingLastPathComponent(),
                            withIntermediateDirectories: true
                        )
                    }
                    try Data("{\"n\": \(number), \"version\": \(version)}".utf8).write(to: file)
                    let time = Date(timeIntervalSince1970: Double(version * 1_000_000 + number))
                    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: file.path)
                }
                guard try run("rsync -a '\(source.path)/' .", in: server, needing: "rsync") else { break }
                let copies = (0..<5).map { server.firestore.collection("c\($0)").whereField("version", isEqualTo: version) }
                func count() async throws -> Int {
                    var count = 0
                    for query in copies { count += try await query.count.getAggregation(source: .server).count.intValue }
                    return count
                }
                while try await count() < Self.copiedFiles { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(try await files("problems", server).status == .code(0))
            #expect(try await server.stop() == .code(0))
            #expect(try await FolderCheck.findings(in: data) == [])
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

    @Test func `With rules for edits, what they refuse is kept beside the documents, and a removed file comes back`() async throws
    {
        try await withTemporaryFolder { folder in
            let rules = folder.appendingPathComponent("rules")
            let user = ProcessInfo.processInfo.userName
            let text = """
                rules_version = '2';
                service cloud.firestore {
                  match /databases/{database}/documents/books/{book} {
                    allow read: if true;
                    allow create, update: if request.auth.uid == 'file:\(user)' && 'title' in request.resource.data;
                  }
                }
                """
            try Data(text.utf8).write(to: rules)
            let arguments = ["--folder-edit-quiet-ms", "20", "--folder-edit-rules", "--rules", rules.path]
            let data = folder.appendingPathComponent("data")
            let server = try await EndToEndServer(data: data, arguments: arguments)
            try Data(#"{"title": "by hand"}"#.utf8).createFile(at: server.file("books/a"))
            try Data(#"{"n": 1}"#.utf8).createFile(at: server.file("books/b"))
            let document = server.firestore.document("books/a")
            while await (try? document.getDocument())?.get("title") == nil { try await Task.sleep(for: .milliseconds(10)) }
            let rejected = server.file("books/b").appendingPathExtension("rejected")
            while !FileManager.default.fileExists(atPath: rejected.path) { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try String(contentsOf: rejected, encoding: .utf8) == #"{"n": 1}"#)
            try FileManager.default.removeItem(at: server.file("books/a"))
            while !FileManager.default.fileExists(atPath: server.file("books/a").path) {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await document.getDocument().get("title") as? String == "by hand")
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `A file keeps its text on request until the server stops, and edits follow each other after a kill`() async throws
    {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            let arguments = ["--folder-edit-quiet-ms", "20", "--folder-edit-keep-text"]
            let server = try await EndToEndServer(data: data, arguments: arguments)
            try await server.firestore.document("c/a").setData(["n": 0])
            let file = server.file("c/a")
            /// The text that an editor saves which has that of the first commit open.
            let first = try String(contentsOf: file, encoding: .utf8)
            func text(_ number: Int) -> String { first.replacing("\"n\": 0", with: "\"n\":   \(number)") }
            try Data(text(1).utf8).createFile(at: file)
            try await wait(for: 1, in: server)
            #expect(try String(contentsOf: file, encoding: .utf8) == text(1))
            _ = try await server.stop(with: SIGKILL)
            // It states a time before that of the last commit.
            try Data(text(2).utf8).createFile(at: file)
            let second = try await EndToEndServer(data: data, arguments: arguments)
            try await wait(for: 2, in: second)
            #expect(try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path) == ["a.json"])
            #expect(try await second.stop() == .code(0))
            #expect(try String(contentsOf: file, encoding: .utf8).contains("\"n\": 2"))
        }
    }

    @Test func `Files with old times that were put in place just before a kill are found`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            // Nothing is taken before the kill, and the journal has what recovery compares the files with.
            let server = try await EndToEndServer(data: data, arguments: ["--folder-edit-quiet-ms", "60000"])
            func commit(_ fields: MapValue) async throws {
                for name in ["edited", "restored", "untimed"] {
                    _ = try await server.connection.commit([.set(DocumentPath("c/\(name)"), fields, merge: .all)])
                }
            }
            try await commit(["n": .integer(1), "m": .integer(1)])
            let place = data.appendingPathComponent("documents/c").path
            let earlier = folder.appendingPathComponent("earlier")
            #expect(try ChildProcess.run("/bin/cp", ["-a", place, earlier.path]) == .code(0))
            try await commit(["n": .integer(2)])
            let script = """
                sed -i 's/"m": 1/"m": 7/' edited.json
                printf '{"n": 3}' >untimed.json
                printf '{"n": 4}' >new.json
                touch -d 2001-02-03 edited.json untimed.json new.json
                cp -p edited.json new.json "$1"
                # The text and the times of an earlier version, as before the last commit was applied to the file.
                cp -p restored.json "$1/../restored"
                mv "$1/../restored" "$1/restored.json"
                mv untimed.json "$1"
                """
            #expect(try ChildProcess.run("/bin/sh", ["-ec", "cd '\(earlier.path)'\n\(script)", "sh", place]) == .code(0))
            _ = try await server.stop(with: SIGKILL)
            let second = try await EndToEndServer(data: data, arguments: ["--folder-edit-quiet-ms", "20"])
            let expected: [String: MapValue] = [
                "edited": ["n": .integer(2), "m": .integer(7)], "restored": ["n": .integer(2), "m": .integer(1)],
                "untimed": ["n": .integer(3)], "new": ["n": .integer(4)],
            ]
            for (name, fields) in expected {
                let path = try DocumentPath("c/\(name)")
                while try await (try? second.connection.document(at: path))?.decoded().fields != fields {
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: place)
            // A file that was just exchanged may not have been removed yet.
            #expect(names.filter { !$0.hasPrefix(".") }.sorted() == expected.keys.map { $0 + ".json" }.sorted())
            #expect(try await second.stop() == .code(0))
            #expect(try await hearth("check", "--data", data.path).status == .code(0))
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
