import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing
import UTF8Text

@Suite("hearth check", .timeLimit(.minutes(10)))
struct CheckCommandTests {
    @Test func `Reports findings, repairs the folder and sets the exit status`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            _ = try await server.connection.set(DocumentPath("books/good"), ["a": .integer(1)])
            let locked = try await hearth("check", "--data", folder.path)
            #expect(locked.status == .code(1))
            #expect(locked.errorText.contains("in use by another Hearth server"))
            #expect(try await server.stop(with: SIGKILL) == .signal(SIGKILL))

            let crashed = try await hearth("check", "--data", folder.path)
            #expect(crashed.status == .code(1))
            #expect(crashed.output.first?.hasPrefix("notClosed: ") == true)
            let repaired = try await hearth("check", "--data", folder.path, "--repair")
            #expect(repaired.status == .code(0))
            #expect(repaired.output.count == 1)
            #expect(repaired.output.first?.hasPrefix("1 document in 1 collection, ") == true)

            try Data("{\n  \"a\":".utf8).write(to: server.file("books/bad"))
            let damaged = try await hearth("check", "--data", folder.path, "--repair", "--json")
            #expect(damaged.status == .code(1))
            #expect(damaged.output.count == 2)
            #expect(damaged.output.first?.contains(#""kind":"damagedDocument""#) == true)
            #expect(damaged.output.first?.contains(#""path":"books/bad","file":"documents/books/bad.json","line":2"#) == true)
            #expect(damaged.output.last?.contains(#""documents":1,"#) == true)
            #expect(try String(contentsOf: server.file("books/bad"), encoding: .utf8) == "{\n  \"a\":")
        }
    }

    @Test func `Reports all findings even if the repair fails`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            for path in ["books/stuck", "books/other"] {
                _ = try await server.connection.set(DocumentPath(path), ["a": .integer(1)])
            }
            #expect(try await server.stop(with: SIGKILL) == .signal(SIGKILL))
            // The document is in the journal, but a folder occupies its file name.
            let stuck = server.file("books/stuck")
            try FileManager.default.removeItem(at: stuck)
            try FileManager.default.createDirectory(at: stuck, withIntermediateDirectories: false)
            try Data("{bad".utf8).write(to: folder.appending(path: "documents/books/foreign.json"))

            let result = try await hearth("check", "--data", folder.path, "--repair")
            #expect(result.status == .code(1))
            #expect(result.errorText.contains("documents/books/stuck.json"))
            for file in ["documents/books/stuck.json", "documents/books/foreign.json"] {
                #expect(result.output.contains { $0.contains(file) }, "\(result.output)")
            }

            try FileManager.default.removeItem(at: stuck)
            try FileManager.default.removeItem(at: folder.appending(path: "documents/books/foreign.json"))
            #expect(try await hearth("check", "--data", folder.path, "--repair").status == .code(0))
            #expect(FileManager.default.fileExists(atPath: stuck.path))
        }
    }

    @Test func `Accepts what was removed by hand and says so, and names files that are not documents`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            for path in ["books/kept", "books/removed"] {
                _ = try await server.connection.set(DocumentPath(path), ["a": .integer(1)])
            }
            #expect(try await server.stop(with: SIGTERM) == .code(0))
            try FileManager.default.removeItem(at: server.file("books/removed"))
            try Data("x".utf8).write(to: folder.appending(path: "documents/README.txt"))
            #expect(try await hearth("check", "--data", folder.path).status == .code(1))
            let repaired = try await hearth("check", "--data", folder.path, "--repair")
            #expect(repaired.status == .code(0))
            #expect(repaired.errorText.contains("Accepted documents/books/removed.json as it is"))
            #expect(repaired.output.first?.hasPrefix("ignored: ") == true && repaired.output.count == 2, "\(repaired.output)")
            #expect(repaired.output.first?.contains("documents/README.txt") == true)
            #expect(repaired.output.last?.hasSuffix("no findings, 1 ignored item") == true)
            #expect(try await hearth("check", "--data", folder.path).status == .code(0))
        }
    }

    @Test func `Sets a damaged journal aside only on request`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            for number in 0..<4 {
                _ = try await server.connection.set(DocumentPath("books/b\(number)"), ["a": .integer(Int64(number))])
            }
            #expect(try await server.stop(with: SIGKILL) == .signal(SIGKILL))
            let journal = folder.appending(path: "journal")
            let name = try #require(
                FileManager.default.contentsOfDirectory(atPath: journal.path).first { $0.hasSuffix(".journal") }
            )
            var bytes = try Data(contentsOf: journal.appending(path: name))
            bytes[64 + 20] ^= 1
            try bytes.write(to: journal.appending(path: name))

            let refused = try await hearth("check", "--data", folder.path, "--repair")
            #expect(refused.status == .code(1))
            #expect(refused.errorText.contains("--set-aside-journal"))
            #expect(try await hearth("check", "--data", folder.path, "--set-aside-journal").status == .code(64))
            let repaired = try await hearth("check", "--data", folder.path, "--repair", "--set-aside-journal")
            #expect(repaired.status == .code(0), "\(repaired)")
            #expect(repaired.errorText.contains("journal.aside-1"))
            #expect(try Data(contentsOf: folder.appending(path: "journal.aside-1/\(name)")) == bytes)
            #expect(repaired.output.last?.hasPrefix("4 documents in 1 collection,") == true)
        }
    }

    @Test func `Does not create a missing folder`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "nothing").path
            let result = try await hearth("check", "--data", path, "--repair")
            #expect(result.status == .code(1))
            #expect(result.errorText.contains(path))
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}
