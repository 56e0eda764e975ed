import Foundation
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Verifying backups", .timeLimit(.minutes(10)))
struct VerifyBackupTests {
    /// Returns the only backup in the list.
    private func backup(_ service: TemporaryService) async throws -> JSONNode {
        let list = try JSONText(await service.result(of: "backups.list", "{}")).root
        return try #require(list["backups"]?.elements.map(Array.init)?.first)
    }

    @Test
    func `A verification continues after the call, and the list of backups has its result`() async throws {
        try await withService(makesBackups: true) { service in
            try await service.result(of: "documents.set", #"{"path":"books/a","fields":{}}"#)
            try await service.result(of: "backups.create", "{}")
            let databases = try #require(service.context.databases)
            _ = await databases.backupTask?.task.value
            let name = try #require(try await backup(service)["name"]?.string)
            #expect(try await backup(service)["verification"] == nil)
            func verify() async throws -> JSONNode? {
                try await service.result(of: "backups.verify", #"{"name":"\#(name)"}"#)
                await databases.verificationTask?.task.value
                return try await backup(service)["verification"]
            }
            #expect(try await verify()?["faults"]?.rawBytes.elementsEqual("0".utf8) == true)
            let file = service.folder + "-backups/\(name)/documents/books/a.json"
            try "{}".write(toFile: file, atomically: true, encoding: .utf8)
            let verification = try await verify()
            #expect(verification?["faults"]?.rawBytes.elementsEqual("1".utf8) == true)
            #expect(verification?["time"]?.string != nil)
            let unknown = try await service.response(to: "backups.verify", #"{"name":"../x"}"#)
            #expect(unknown["error"]?["data"]?["status"]?.string == "NOT_FOUND")
        }
    }

    @Test
    func `Backups are listed when the record of verifications cannot be read`() async throws {
        try await withService(makesBackups: true) { service in
            let record = service.folder + "-backups/verified.json"
            try FileManager.default.createDirectory(atPath: record, withIntermediateDirectories: true)
            try await service.result(of: "backups.create", "{}")
            _ = await service.context.databases?.backupTask?.task.value
            #expect(try await backup(service)["verification"] == nil)
        }
    }
}
