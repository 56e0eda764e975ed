import DocumentModel
import DocumentStore
import Foundation
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("The rules of a database") struct DatabaseRulesTests {
    private static func rules(_ condition: String) -> String {
        "service cloud.firestore { match /databases/{d}/documents { match /a/{id} { allow read: if \(condition); } } }"
    }

    private func write(_ text: String, in service: TemporaryService) throws {
        try Data(text.utf8).write(to: URL(filePath: service.folder + "/firestore.rules"))
    }

    /// Returns whether anybody may read the document `a/b`.
    private func isOpen(_ service: TemporaryService) async throws -> Bool {
        let response = try await service.withCaller(.anonymous).response(to: "documents.get", #"{"path": "a/b"}"#)
        return response["error"]?["data"]?["status"]?.string == "NOT_FOUND"
    }

    @Test func `A file in the data folder decides once it has been read, and again after an edit`() async throws {
        try await withService { service in
            let registry = service.context.rulesRegistry
            #expect(try await !isOpen(service))
            #expect(!service.context.keys.requiresKeys)
            try write(Self.rules("true"), in: service)
            await registry.refresh()
            #expect(try await isOpen(service))
            #expect(service.context.keys.requiresKeys)
            try write(Self.rules("false"), in: service)
            await registry.refresh()
            #expect(try await !isOpen(service))
        }
    }

    @Test func `A file that does not compile keeps the earlier rules, and is reported`() async throws {
        try await withService { service in
            try write(Self.rules("true"), in: service)
            await service.context.rulesRegistry.refresh()
            try write("service cloud.firestore {", in: service)
            await service.context.rulesRegistry.refresh()
            #expect(try await isOpen(service))
            let result = try JSONText(await service.result(of: "rules.get", "{}")).root
            #expect(result["problem"]?.string?.contains("1:26 - ERROR Unexpected '<EOF>'.") == true)
            #expect(result["rules"]?.string == Self.rules("true"))
        }
    }

    @Test func `A database whose file never compiled is closed, even if the server has rules`() async throws {
        try await withService { service in
            try service.context.rulesRegistry.setServerRules(Array(Self.rules("true").utf8))
            #expect(try await isOpen(service))
            try write("nonsense", in: service)
            await service.context.rulesRegistry.refresh()
            #expect(try await !isOpen(service))
            try FileManager.default.removeItem(atPath: service.folder + "/firestore.rules")
            await service.context.rulesRegistry.refresh()
            #expect(try await isOpen(service))
        }
    }

    @Test func `Rules are set, and the earlier ones can be had back`() async throws {
        try await withService { service in
            let texts = [Self.rules("true"), Self.rules("false"), Self.rules("1 == 1")]
            var versions: [String] = []
            for text in texts {
                var writer = JSONWriter()
                writer.string(text)
                let params = #"{"rules": \#(String(decoding: writer.finish(), as: UTF8.self))}"#
                versions.append(try #require(try JSONText(await service.result(of: "rules.set", params)).root["version"]?.string))
            }
            let file = try String(contentsOf: URL(filePath: service.folder + "/firestore.rules"), encoding: .utf8)
            #expect(file == texts[2])
            let result = try JSONText(await service.result(of: "rules.get", "{}")).root
            #expect(result["version"]?.string == versions[2])
            #expect(result["versions"]?.elements?.map { $0["version"]?.string } == [versions[1], versions[0]])
            try await service.result(of: "rules.set", #"{"version": "\#(versions[1])"}"#)
            #expect(try await !isOpen(service))
            let old = try JSONText(await service.result(of: "rules.get", #"{"version": "\#(versions[0])"}"#)).root
            #expect(old["rules"]?.string == texts[0])
            let unknown = try await service.response(to: "rules.get", #"{"version": "0000"}"#)
            #expect(unknown["error"]?["data"]?["status"]?.string == "NOT_FOUND")
        }
    }

    @Test func `Rules that do not compile are refused with all errors, and change nothing`() async throws {
        try await withService { service in
            try write(Self.rules("true"), in: service)
            await service.context.rulesRegistry.refresh()
            let response = try await service.response(to: "rules.set", #"{"rules": "service cloud.firestore { allow }"}"#)
            #expect(response["error"]?["data"]?["status"]?.string == "INVALID_ARGUMENT")
            #expect(response["error"]?["message"]?.string?.contains("1:27 - ERROR") == true)
            #expect(try await isOpen(service))
        }
    }

    @Test func `End users cannot create databases`() async throws {
        try await withService { service in
            try service.context.rulesRegistry.setServerRules(
                Array("service cloud.firestore { match /{all=**} { allow read, write; } }".utf8)
            )
            let user = service.withCaller(.anonymous)
            let call = #"{"path": "a/b", "fields": {}, "database": "shop/new"}"#
            let denied = try await user.response(to: "documents.set", call)["error"]
            #expect(denied?["data"]?["status"]?.string == "PERMISSION_DENIED")
            try await service.result(of: "documents.set", call)
            let allowed = try await user.response(to: "documents.set", call)
            #expect(allowed["error"] == nil)
        }
    }

    @Test func `Denials are counted by method and line, without anything of the requests`() async throws {
        let fixture = try RulesFixture("    match /a/{id} { allow get: if false; }")
        for _ in 1...2 { _ = try await fixture.status("alice", "documents.get", #"{"path": "a/secret"}"#) }
        _ = try await fixture.status("alice", "documents.get", #"{"path": "b/secret"}"#)
        let admin = TemporaryService(context: fixture.context, folder: "")
        let denials = try await admin.member("denials", of: "rules.get", "{}")
        #expect(denials == #"[{"method":"get","line":4,"count":2},{"method":"get","count":1}]"#)
    }

    @Test func `A test program replaces the rules of a project in emulator mode only`() async throws {
        let fixture = try RulesFixture("", isEmulator: true)
        let project = DatabaseID.standard.project
        _ = try fixture.registry.replaceRules(ofProject: project, with: Self.rules("true"))
        #expect(try await fixture.status(nil, "documents.get", #"{"path": "a/b"}"#) == "NOT_FOUND")
        _ = try fixture.registry.replaceRules(ofProject: project, with: Self.rules("false"))
        #expect(try await fixture.status(nil, "documents.get", #"{"path": "a/b"}"#) == "PERMISSION_DENIED")
        let other = try RulesFixture("")
        #expect(throws: StatusError.self) { try other.registry.replaceRules(ofProject: project, with: Self.rules("true")) }
    }
}
