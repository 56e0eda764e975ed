import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing
import UTF8Text

@Suite("hearth check", .timeLimit(.minutes(2)))
struct CheckTests {
    @Test func `reports findings, repairs the folder and sets the exit status`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await TestServer(data: folder)
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
            #expect(repaired.output.first?.hasPrefix("1 documents in 1 collections") == true)

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

    @Test func `reports all findings even if the repair fails`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await TestServer(data: folder)
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

    @Test func `does not create a missing folder`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "nothing").path
            let result = try await hearth("check", "--data", path, "--repair")
            #expect(result.status == .code(1))
            #expect(result.errorText.contains(path))
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}
