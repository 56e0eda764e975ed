import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing

@Suite("hearth check", .timeLimit(.minutes(2)))
struct CheckTests {
    @Test func `says what is wrong, repairs what can be, and tells by its exit code`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await TestServer(data: folder)
            _ = try await server.connection.set(DocumentPath("books/good"), ["a": .integer(1)])
            let busy = try await hearth("check", "--data", folder.path)
            #expect(busy.status == .code(1))
            #expect(busy.errorText.contains("in use by another Hearth server"))
            #expect(try await server.stop(with: SIGKILL) == .signal(SIGKILL))

            let unclosed = try await hearth("check", "--data", folder.path)
            #expect(unclosed.status == .code(1))
            #expect(unclosed.output.first?.hasPrefix("notClosed: ") == true)
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

    @Test func `makes no folder where there is none`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "nothing").path
            let result = try await hearth("check", "--data", path, "--repair")
            #expect(result.status == .code(1))
            #expect(result.errorText.contains(path))
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}
