import Foundation
import HearthClient
import TestSupport
import Testing

/// Edits of document files in the ways of the programs that people use: in place, by a new file, by a temporary one and `rename`, with
/// backups and swap files beside the file.
@Suite("Editors on documents", .timeLimit(.minutes(10))) struct EditorTests {
    /// An edit of the document `books/a`.
    enum Editor: String, CaseIterable {
        case vim, vimInPlace, nano, sponge, sed, cp, mv, dd, rsync

        /// The program that must be installed.
        var program: String {
            switch self {
            case .vimInPlace: "vim"
            default: rawValue
            }
        }

        /// A script that runs in the folder of the collection, and sets the title in `a.json` to `title`.
        func script(title: String) -> String {
            let copy = "sed 's/\"title\": \".*\"/\"title\": \"\(title)\"/' a.json >../../a.json"
            let vim = "vim -es -u NONE -N -c 'set swapfile updatecount=1 backup backupdir=. %@'"
            let substitution = "-c '%s/\"title\": \".*\"/\"title\": \"\(title)\"/' -c wq a.json </dev/null"
            return switch self {
            case .vim: "\(vim.replacing("%@", with: "backupcopy=no")) \(substitution)"
            case .vimInPlace: "\(vim.replacing("%@", with: "backupcopy=yes")) \(substitution)"
            case .nano: Self.nano(title: title)
            case .sponge: "jq '.title = \"\(title)\"' a.json | sponge a.json"
            case .sed: "sed -i 's/\"title\": \".*\"/\"title\": \"\(title)\"/' a.json"
            case .cp: "\(copy) && cp ../../a.json a.json"
            case .mv: "\(copy) && mv ../../a.json a.json"
            case .dd: "\(copy) && dd if=../../a.json of=a.json bs=16 2>/dev/null"
            case .rsync: "\(copy) && rsync -a ../../a.json a.json"
            }
        }

        /// Nano reads keys from a terminal only, once it shows the file. They cut the line behind the cursor, write, and leave.
        private static func nano(title: String) -> String {
            """
            python3 - <<'END'
            import os, pty
            pid, terminal = pty.fork()
            if pid == 0:
                os.environ["TERM"] = "xterm"
                os.execvp("nano", ["nano", "--ignorercfiles", "--backup", "--cutfromcursor", "+3,13", "a.json"])
            seen = b""
            while b"title" not in seen:
                seen += os.read(terminal, 65536)
            os.write(terminal, b'\\x0b\(title)",\\x0f\\r\\x18')
            try:
                while os.read(terminal, 65536):
                    pass
            except OSError:
                pass
            os.waitpid(pid, 0)
            END
            """
        }
    }

    private func run(_ script: String, in server: EndToEndServer) async throws {
        let folder = server.folder.appending(path: "documents/books").path
        let result = try await shell("set -euo pipefail\ncd '\(folder)'\n\(script)")
        #expect(result.status == .code(0), "\(script)\n\(result)")
    }

    @Test func `What is saved becomes one version of the document, and what lies beside it none`() async throws {
        try await withServer(arguments: ["--folder-edit-quiet-ms", "500"]) { server in
            let db = server.firestore
            try await db.document("books/a").setData(["title": "first", "n": 1])
            var books = ObservedCollection(on: server)
            try await books.expect(["a": "first"], after: "the first write")
            for editor in Editor.allCases where isInstalled(editor.program) {
                let versions = try await books.history(of: "a").count
                let title = "by \(editor.rawValue)"
                try await run(editor.script(title: title), in: server)
                try await books.expect(["a": title], after: editor.rawValue)
                #expect(try await books.history(of: "a").count == versions + 1, "\(editor)")
            }
            // Several documents, with what editors leave behind.
            try await run(
                "cp a.json b.json; cp -a a.json c.json; mv c.json d.json; touch a.json~ .a.json.swp 4913; ln -s x '.#a.json'",
                in: server
            )
            let title = try #require(try await db.document("books/a").getDocument().get("title") as? String)
            try await books.expect(["a": title, "b": title, "d": title], after: "cp and mv")
            try await run("rm d.json b.json", in: server)
            try await books.expect(["a": title], after: "rm")
            try await books.end()
            try await db.terminate()
        }
    }

    /// The number of documents that rsync copies; more with HEARTH_RSYNC_DOCUMENTS.
    private static let documentCount = ProcessInfo.processInfo.environment["HEARTH_RSYNC_DOCUMENTS"].flatMap { Int($0) } ?? 2_000

    @Test(.enabled(if: isInstalled("rsync"))) func `rsync copies a collection, and later only what has changed`() async throws {
        try await withServer(arguments: ["--folder-edit-quiet-ms", "50"]) { server in
            let count = Self.documentCount
            let db = server.firestore
            func wait(for title: String, count: Int) async throws {
                let query = db.collection("books").whereField("title", isEqualTo: title)
                while try await query.count.getAggregation(source: .server).count.intValue != count {
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            try await db.document("books/first").setData(["title": "first"])
            let files = """
                mkdir ../../copy && for i in $(seq \(count)); do echo '{"title": "one"}' >../../copy/$i.json; done
                rsync -a ../../copy/ .
                """
            try await run(files, in: server)
            try await wait(for: "one", count: count)
            let before = try await server.connection.serverInformation().sequence
            // The server has written all files again: rsync copies all, though only some have other fields.
            try await run("sed -i s/one/two/ ../../copy/?.json && rsync -a ../../copy/ .", in: server)
            try await wait(for: "two", count: 9)
            try await wait(for: "one", count: count - 9)
            let versions = try await ObservedCollection(on: server).history(of: "10")
            #expect(versions.count == 1)
            #expect(try await server.connection.serverInformation().sequence <= before + 9)
            try await db.terminate()
        }
    }
}
