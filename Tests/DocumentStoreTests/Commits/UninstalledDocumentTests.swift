import DocumentModel
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import DocumentStore

@Suite("A durable commit whose file can't be changed counts")
struct UninstalledDocumentTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test("Readers get it from memory, writes wait, and both go on when the file can be changed")
    func blockedFile() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            try await store.set("c/gone", [:])
            let stuck = try document("c/stuck")
            try FileManager.default.createDirectory(
                atPath: fixture.folder["data/documents/c/stuck.json"],
                withIntermediateDirectories: true
            )
            store.parts.uninstalled.insert(stuck, at: stuck.path, because: Self.failure)
            store.parts.uninstalled.insert(nil, at: try DocumentPath("c/gone"), because: Self.failure)
            #expect(try await store.document(at: stuck.path) == stuck)
            #expect(try await store.document(at: DocumentPath("c/gone")) == nil)
            #expect(try await store.list("c").ids == ["a", "stuck"])
            let error = await expectStatus(.unavailable) { try await store.set("c/b", [:]) }
            #expect(error?.message.contains("documents/c/stuck.json") == true)
            #expect(await store.writeObstacle?.message == error?.message)
            try fixture.folder.remove("data/documents/c/stuck.json")
            try await store.set("c/b", [:])
            #expect(store.parts.uninstalled.isEmpty)
            #expect(await store.writeObstacle == nil)
            #expect(try await store.list("c").ids == ["a", "b", "stuck"])
            #expect(!fixture.folder.exists("data/documents/c/gone.json"))
        }
    }

    @Test("A collection that has no folder yet is listed")
    func noFolder() async throws {
        try await fixture.withStore { store in
            for id in ["b", "a", "c"] {
                let stuck = try document("new/\(id)")
                store.parts.uninstalled.insert(stuck, at: stuck.path, because: Self.failure)
            }
            let page = try await store.list("new", limit: 2)
            #expect(page.ids == ["a", "b"] && page.next?.key == "b")
            #expect(try await store.list("new", after: "b").ids == ["c"])
        }
    }

    @Test("A store that is closed meanwhile is not noted as complete")
    func closing() async throws {
        try fixture.folder.write("", to: "data/file")
        try fixture.folder.remove("data/file")
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            let stuck = try document("c/stuck")
            try FileManager.default.createDirectory(
                atPath: fixture.folder["data/documents/c/stuck.json"],
                withIntermediateDirectories: true
            )
            store.parts.uninstalled.insert(stuck, at: stuck.path, because: Self.failure)
        }
        #expect(try fixture.folder.text(of: "data/hearth.json").contains("\"clean\":false"))
    }

    private static let failure = StatusError(.unavailable, "The disk fails.")

    private func document(_ path: String) throws -> EncodedDocument {
        let time = Timestamp.current()
        return EncodedDocument(
            Document(path: try DocumentPath(path), fields: ["n": .integer(1)], createTime: time, updateTime: time)
        )
    }
}
