import DocumentModel
import Foundation
import HearthAPI
import Logging
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Audit log", .timeLimit(.minutes(5)))
struct AuditLogTests {
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private func write(_ count: Int, to path: String, maximumBytes: Int? = nil) async throws {
        let log = try AuditLog(path: path, maximumBytes: maximumBytes, logger: logger)
        for number in 0..<count { log.record(AuditEvent(.revokeKey, on: "key\(number)", by: .system)) }
        await log.flush()
    }

    @Test
    func `Lines name who did what when, follow each other, and only the owner can read them`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("audit.ndjson").path
            try await write(2, to: path)
            // Continued by another process.
            try await write(1, to: path)
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            let members = try lines.map { try JSONText(String($0)).root }
            #expect(members.map { $0["target"]?.string } == ["key0", "key1", "key0"])
            #expect(members.map { $0["number"]?.number } == [.integer(1), .integer(2), .integer(3)])
            #expect(members.allSatisfy { $0["action"]?.string == "keys.revoke" && $0["outcome"]?.string == "OK" })
            #expect(members.allSatisfy { $0["caller"]?.string == "server" })
            #expect(members[0]["previous"]?.string == String(repeating: "0", count: 64))
            let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
            let verification = try AuditVerification(path: path)
            #expect(verification.firstNumber == 1 && verification.lastNumber == 3)
        }
    }

    @Test
    func `A changed, removed, repeated or inserted line shows, with its place`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("audit.ndjson").path
            try await write(5, to: path)
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { String($0) }
            let changes: [(String, [String])] = [
                ("line 3", [lines[0], lines[1].replacing("key1", with: "key7")] + lines[2...]),
                ("line 2", [lines[0]] + lines[2...]),
                ("line 3", Array(lines[...1] + lines[1...])),
                ("line 2", [lines[0], "{}"] + lines[1...]),
                ("line 2", [lines[0], lines[1].replacing(#""number":2"#, with: #""number":3"#)] + lines[2...]),
            ]
            for (place, changed) in changes {
                try (changed.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
                let error = #expect(throws: StatusError.self) { try AuditVerification(path: path) }
                #expect(error?.code == .dataLoss)
                #expect(error?.message.contains("audit.ndjson, \(place):") == true, "\(place) \(error?.message ?? "")")
            }
        }
    }

    @Test
    func `A new file begins at the maximum size, the chain goes on, and a cut in an earlier file shows`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("audit.ndjson").path
            try await write(10, to: path, maximumBytes: 500)
            try await write(10, to: path, maximumBytes: 500)
            let verification = try AuditVerification(path: path)
            #expect(verification.firstNumber == 1 && verification.lastNumber == 20)
            #expect(verification.fileCount > 5)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .compactMap { name in name.split(separator: ".").last.flatMap { Int($0) } }.sorted()
            // The oldest file may be moved away.
            try FileManager.default.removeItem(atPath: "\(path).\(names[0])")
            #expect(try AuditVerification(path: path).firstNumber == names[0] + 1)
            try FileManager.default.removeItem(atPath: "\(path).\(names[2])")
            #expect(throws: StatusError.self) { try AuditVerification(path: path) }
        }
    }

    @Test
    func `A line that a crash has cut off is removed, another file is not continued, and one writer has the file`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("audit.ndjson").path
            try await write(2, to: path)
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(#"{"number":3,"ti"#.utf8))
            try handle.close()
            #expect(throws: StatusError.self) { try AuditVerification(path: path) }
            let log = try AuditLog(path: path, logger: logger)
            await log.recordDurably(AuditEvent(.signOut, by: .system))
            #expect(try AuditVerification(path: path).lastNumber == 3)
            let locked = #expect(throws: StatusError.self) { try AuditLog(path: path, logger: logger) }
            #expect(locked?.code == .failedPrecondition)
            let other = folder.appendingPathComponent("other").path
            try "something else\n".write(toFile: other, atomically: true, encoding: .utf8)
            let error = #expect(throws: StatusError.self) { try AuditLog(path: other, logger: logger) }
            #expect(error?.code == .dataLoss)
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "something else\n")
            withExtendedLifetime(log) {}
        }
    }
}
