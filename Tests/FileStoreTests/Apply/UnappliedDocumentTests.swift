import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Durable commits that cannot be applied to their files", .tags(.crash))
struct UnappliedDocumentTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `Reads come from memory and writes are rejected until the file can be changed`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            try await store.set("c/gone", [:])
            let stuck = try document("c/stuck")
            try FileManager.default.createDirectory(
                atPath: fixture.folder["data/documents/c/stuck.json"],
                withIntermediateDirectories: true
            )
            store.components.unapplied.insert(stuck, at: stuck.path, because: Self.failure)
            store.components.unapplied.insert(nil, at: try DocumentPath("c/gone"), because: Self.failure)
            #expect(try await store.document(at: stuck.path) == stuck)
            #expect(try await store.document(at: DocumentPath("c/gone")) == nil)
            #expect(try await store.list("c").ids == ["a", "stuck"])
            let error = await expectStatus(.unavailable) { try await store.set("c/b", [:]) }
            #expect(error?.message.contains("documents/c/stuck.json") == true)
            #expect(await store.writeBlockedReason?.message == error?.message)
            try fixture.folder.remove("data/documents/c/stuck.json")
            try await store.set("c/b", [:])
            #expect(store.components.unapplied.isEmpty)
            #expect(await store.writeBlockedReason == nil)
            #expect(try await store.list("c").ids == ["a", "b", "stuck"])
            #expect(!fixture.folder.exists("data/documents/c/gone.json"))
        }
    }

    @Test
    func `A collection without a folder is listed`() async throws {
        try await fixture.withStore { store in
            for id in ["b", "a", "c"] {
                let stuck = try document("new/\(id)")
                store.components.unapplied.insert(stuck, at: stuck.path, because: Self.failure)
            }
            let page = try await store.list("new", limit: 2)
            #expect(page.ids == ["a", "b"] && page.next?.key == "b")
            #expect(try await store.list("new", after: "b").ids == ["c"])
        }
    }

    @Test
    func `A store closed with unapplied documents is not marked as clean`() async throws {
        try fixture.folder.write("", to: "data/file")
        try fixture.folder.remove("data/file")
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            let stuck = try document("c/stuck")
            try FileManager.default.createDirectory(
                atPath: fixture.folder["data/documents/c/stuck.json"],
                withIntermediateDirectories: true
            )
            store.components.unapplied.insert(stuck, at: stuck.path, because: Self.failure)
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
