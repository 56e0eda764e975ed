import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing
import UTF8Text

/// git on the documents of a server that makes commits of edits.
@Suite("Documents in git", .timeLimit(.minutes(10)), .enabled(if: isInstalled("git"))) struct GitTests {
    /// The number of documents that are changed at once; more with HEARTH_GIT_DOCUMENTS.
    private static let documentCount = ProcessInfo.processInfo.environment["HEARTH_GIT_DOCUMENTS"].flatMap { Int($0) } ?? 2_000

    /// A shell without the configuration of the user.
    private static let preamble = """
        set -euo pipefail
        export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Arthur GIT_AUTHOR_EMAIL=arthur@example.com
        export GIT_COMMITTER_NAME=Arthur GIT_COMMITTER_EMAIL=arthur@example.com
        """

    /// Runs a script, and returns its output.
    @discardableResult
    private func run(_ script: String, in folder: URL, status: Int32 = 0) async throws -> String {
        let result = try await shell("\(Self.preamble)\ncd '\(folder.path)'\n\(script)")
        #expect(result.status == .code(status), "\(script)\n\(result)")
        return result.output.joined(separator: "\n")
    }

    private func withDocuments(
        _ body: (EndToEndServer, inout ObservedCollection, _ documents: URL) async throws -> Void
    ) async throws {
        try await withServer(arguments: ["--folder-edit-quiet-ms", "50"]) { server in
            let documents = server.folder.appending(path: "documents")
            let db = server.firestore
            try await db.document("books/a").setData(["title": "a", "n": 1])
            try await db.document("books/b").setData(["title": "b", "tags": ["x", "y"]])
            try await db.terminate()
            try await run(
                "\"$HEARTH\" git init --data '\(server.folder.path)' && git add . && git commit -qm first",
                in: documents
            )
            var books = ObservedCollection(on: server)
            try await books.expect(["a": "a", "b": "b"], after: "the first writes")
            try await body(server, &books, documents)
            try await books.end()
        }
    }

    @Test func `Checkout, revert and stash change the documents, and histories have no times`() async throws {
        try await withDocuments { server, books, documents in
            #expect(try await run("git show HEAD:books/a.json", in: documents) == "{\n  \"n\": 1,\n  \"title\": \"a\"\n}")
            #expect(try await run("git ls-files", in: documents) == ".gitattributes\n.gitignore\nbooks/a.json\nbooks/b.json")
            try await run("sed -i 's/\"a\"/\"edited\"/' books/a.json", in: documents)
            try await books.expect(["a": "edited", "b": "b"], after: "sed")
            let diff = try await run("git diff -U0", in: documents)
            #expect(diff.hasSuffix("-  \"title\": \"a\"\n+  \"title\": \"edited\""))
            try await run("git commit -qam second && rm books/b.json && git commit -qam third", in: documents)
            try await books.expect(["a": "edited"], after: "rm")
            try await run("git revert --no-edit HEAD HEAD~1", in: documents)
            try await books.expect(["a": "a", "b": "b"], after: "git revert")
            try await run("git checkout -q HEAD~1", in: documents)
            try await books.expect(["a": "edited", "b": "b"], after: "git checkout")
            #expect(try await run("git status --short", in: documents) == "")
            try await run("git checkout -q -b other HEAD~2 && sed -i 's/edited/stashed/' books/a.json", in: documents)
            try await books.expect(["a": "stashed", "b": "b"], after: "sed")
            try await run("git stash -q", in: documents)
            try await books.expect(["a": "edited", "b": "b"], after: "git stash")
            try await run("git stash pop -q", in: documents)
            try await books.expect(["a": "stashed", "b": "b"], after: "git stash pop")
            #expect(try await run("git status --short", in: documents) == " M books/a.json")
        }
    }

    @Test func `A write by a call is a change for git, a write of the same fields is none`() async throws {
        try await withDocuments { server, books, documents in
            let db = server.firestore
            try await db.document("books/a").setData(["title": "a", "n": 1])
            #expect(try await run("git status --short", in: documents) == "")
            try await db.document("books/a").updateData(["title": "called"])
            try await books.expect(["a": "called", "b": "b"], after: "a call")
            #expect(try await run("git status --short", in: documents) == " M books/a.json")
            let commit = "\"$HEARTH\" git commit --data '\(server.folder.path)' --author 'Ford <ford@example.com>'"
            #expect(try await run(commit, in: documents) == "Change books/a")
            #expect(try await run(commit, in: documents) == "")
            #expect(try await run("git log -1 --format=%an,%s", in: documents) == "Ford,Change books/a")
            #expect(try await run("git status --short", in: documents) == "")
            try await db.terminate()
        }
    }

    @Test func `A push to the folder of a server changes its documents, after a merge field by field`() async throws {
        try await withDocuments { server, books, documents in
            let clone = server.folder.appending(path: "../clone").standardizedFileURL
            try await run(
                "git clone -q '\(documents.path)' '\(clone.path)' && \"$HEARTH\" git init --clone '\(clone.path)'",
                in: server.folder
            )
            // Both change the document, on neighbouring lines.
            try await run("sed -i 's/\"title\": \"a\"/\"title\": \"pushed\"/' books/a.json && git commit -qam push", in: clone)
            let db = server.firestore
            try await db.document("books/a").updateData(["n": 2, "by": "call"])
            #expect(try await run("git push -q 2>&1 | grep -c 'unstaged changes'", in: clone, status: 1) == "1")
            try await run("\"$HEARTH\" git commit --data '\(server.folder.path)'", in: documents)
            try await run("git pull -q --no-rebase --no-edit && git push -q", in: clone)
            try await books.expect(["a": "pushed", "b": "b"], after: "git push")
            let document = try await db.document("books/a").getDocument()
            #expect(document.get("n") as? Int64 == 2)
            #expect(document.get("by") as? String == "call")
            #expect(try await run("git status --short", in: documents) == "")
            // A second push finds the files that the server has written again unchanged.
            try await run("sed -i 's/pushed/again/' books/a.json && git commit -qam again && git push -q", in: clone)
            try await books.expect(["a": "again", "b": "b"], after: "the second git push")
            try await db.terminate()
        }
    }

    @Test func `Two changes of a field are a conflict of this field, which a person resolves in a clone`() async throws {
        try await withDocuments { server, books, documents in
            let clone = server.folder.appending(path: "../clone").standardizedFileURL
            try await run(
                "git clone -q '\(documents.path)' '\(clone.path)' && \"$HEARTH\" git init --clone '\(clone.path)'",
                in: server.folder
            )
            try await run("sed -i 's/\"a\"/\"ours\"/; s/1/3/' books/a.json && git commit -qam ours", in: clone)
            try await run("sed -i 's/\"a\"/\"theirs\"/' books/a.json", in: documents)
            try await books.expect(["a": "theirs", "b": "b"], after: "sed")
            try await run("\"$HEARTH\" git commit --data '\(server.folder.path)'", in: documents)
            let messages = try await run("git pull -q --no-rebase --no-edit 2>&1", in: clone, status: 1)
            #expect(messages.contains("hearth: books/a.json: both have changed title"), "\(messages)")
            let expected = """
                {
                  "n": 3,
                <<<<<<< ours
                  "title": "ours"
                =======
                  "title": "theirs"
                >>>>>>> theirs
                }
                """
            #expect(try await run("cat books/a.json", in: clone) == expected)
            try await run("git checkout -q --theirs books/a.json && git commit -qam merged && git push -q", in: clone)
            #expect(try await run("git status --short", in: documents) == "")
            try await run("sed -i 's/theirs/resolved/' books/a.json && git commit -qam resolved && git push -q", in: clone)
            try await books.expect(["a": "resolved", "b": "b"], after: "git push")
        }
    }

    @Test func `Files that are not documents are merged line by line`() async throws {
        try await withDocuments { _, _, documents in
            let script = """
                git config receive.denyCurrentBranch ignore
                printf '[1,\\n2,\\n3,\\n4,\\n5]\\n' >x.json && git add x.json && git commit -qm x
                git checkout -q -b other && sed -i s/1/0/ x.json && git commit -qam other
                git checkout -q - && sed -i s/5/6/ x.json && git commit -qam this && git merge -q --no-edit other
                """
            try await run(script, in: documents)
            #expect(try await run("cat x.json", in: documents) == "[0,\n2,\n3,\n4,\n6]")
        }
    }

    @Test func `A pull of many changed documents is a handful of commits`() async throws {
        try await withDocuments { server, _, documents in
            let clone = server.folder.appending(path: "../clone").standardizedFileURL
            let count = Self.documentCount
            let script = """
                git clone -q '\(documents.path)' '\(clone.path)' && cd '\(clone.path)' && "$HEARTH" git init --clone . && mkdir many
                for i in $(seq \(count)); do echo "{\\"n\\": $i, \\"title\\": \\"one\\"}" >many/$i.json; done
                git add . && git commit -qm one && git branch one
                sed -i s/one/two/ many/*.json && git commit -qam two
                cd '\(documents.path)' && git pull -q '\(clone.path)' one
                """
            let db = server.firestore
            func wait(for title: String) async throws {
                let query = db.collection("many").whereField("title", isEqualTo: title)
                while try await query.count.getAggregation(source: .server).count.intValue != count {
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            try await run(script, in: server.folder)
            try await wait(for: "one")
            let before = try await server.connection.serverInformation().sequence
            let start = ContinuousClock.now
            // As long as the server still writes the files with their times, git takes them for changed.
            let pull =
                "until git pull -q '\(clone.path)' HEAD 2>../errors; do grep -q 'Your local changes' ../errors; sleep 0.2; done"
            try await run(pull, in: documents)
            try await wait(for: "two")
            let commits = try await server.connection.serverInformation().sequence - before
            // One has at most 500 documents, and those of a pull that takes long are committed four times a second.
            let most = 3 * (count / 500 + 1) + 4 * Int((ContinuousClock.now - start) / .seconds(1))
            #expect(commits <= UInt64(most), "\(commits) commits instead of \(most)")
            try await run("until [ -z \"$(git status --short)\" ]; do sleep 0.2; done", in: documents)
            try await db.terminate()
        }
    }

    /// Another user, whose main group is that of the folder.
    private static let otherUser = "HOME=/nonexistent setpriv --reuid=nobody --regid=1010101 --clear-groups"

    @Test(
        .enabled("Requires root, and other users who may run the program") {
            let test = "test $(id -u) = 0 && \(Self.otherUser) '\(HearthProcess.executable.path)' --version >/dev/null 2>&1"
            return try ChildProcess.run("/bin/sh", ["-c", test]) == .code(0)
        }
    )
    func `Another user of the group uses git on the folder of a server`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appending(path: "data")
            let prepare = "mkdir data && chgrp 1010101 data && chmod 2770 data && chmod o+x . && umask 007"
            try await run(prepare, in: folder)
            // git removes a file before it creates its next version: on a busy machine, more than a moment apart.
            let arguments = ["--folder-edit-quiet-ms", "500", "--group-access", "edit"]
            let server = try await EndToEndServer(data: data, arguments: arguments)
            let documents = data.appending(path: "documents")
            do {
                let db = server.firestore
                try await db.document("books/a").setData(["title": "a"])
                try await run(
                    "\"$HEARTH\" git init --data '\(data.path)' && \"$HEARTH\" git commit --data '\(data.path)'",
                    in: documents
                )
                var books = ObservedCollection(on: server)
                try await books.expect(["a": "a"], after: "the first write")
                let edit = """
                    umask 002
                    git() { \(Self.otherUser) git -c safe.directory='*' "$@"; }
                    \(Self.otherUser) sed -i 's/"a"/"by nobody"/' books/a.json && git commit -qam edit
                    """
                try await run(edit, in: documents)
                try await books.expect(["a": "by nobody"], after: "sed")
                #expect(try await books.history(of: "a").first?["author"]?.string == "file:nobody")
                try await run("umask 002\n\(Self.otherUser) git -c safe.directory='*' revert --no-edit HEAD", in: documents)
                try await books.expect(["a": "a"], after: "git revert")
                try await db.document("books/a").setData(["title": "by call"])
                try await run("\"$HEARTH\" git commit --data '\(data.path)'", in: documents)
                #expect(try await run("git status --short && git log --oneline | wc -l", in: documents) == "4")
                try await books.end()
                try await db.terminate()
            } catch {
                _ = try await server.stop(with: SIGKILL)
                throw error
            }
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `Commits at an interval have what has changed, until they are stopped`() async throws {
        try await withDocuments { server, books, documents in
            let environment = [
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_COMMITTER_NAME": "x",
                "GIT_COMMITTER_EMAIL": "x",
                "GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x",
            ]
            let process = try HearthProcess(
                ["git", "commit", "--data", server.folder.path, "--every", "1s"],
                environment: environment
            )
            let db = server.firestore
            try await db.document("books/c").setData(["title": "c"])
            var lines = process.output.makeAsyncIterator()
            #expect(await lines.next() == "Change books/c (new)")
            try await db.document("books/c").delete()
            #expect(await lines.next() == "Change books/c (deleted)")
            #expect(try await process.end(with: SIGTERM) == .code(0))
            try await db.terminate()
        }
    }

    @Test func `Each database has a repository, and lines of others are kept`() async throws {
        try await withServer { server in
            // The first write makes the database.
            let arguments = ["set", "books/x", "{}", "--database", "shop/tests", "--server", server.address]
            #expect(try await HearthProcess(arguments).result().status == .code(0))
            let data = server.folder
            try await run(
                "cd documents && git init -q && echo '!README' >.gitignore && cd .. && \"$HEARTH\" git init --data .",
                in: data
            )
            try await run("\"$HEARTH\" git init --data . && echo read >documents/README", in: data)
            #expect(try await run("git -C documents status --short", in: data) == "?? .gitattributes\n?? .gitignore\n?? README")
            let other = try await run("git -C databases/shop/tests/documents status --short", in: data)
            #expect(other == "?? .gitattributes\n?? .gitignore\n?? books/")
            let messages = try await run("\"$HEARTH\" git init --data documents 2>&1", in: data, status: 1)
            #expect(messages.contains("is not a data folder"))
        }
    }
}
