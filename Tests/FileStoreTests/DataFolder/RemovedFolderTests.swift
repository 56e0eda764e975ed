import DocumentModel
import DocumentStore
import FileStore
import Foundation
import TestSupport
import Testing

@Suite("Folders removed or replaced while the store is open")
struct RemovedFolderTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(
        arguments: ["data", "data/documents"],
        [false, true]
    )
    func `After a folder is removed, reads, writes and closing fail`(folder: String, isWritten: Bool) async throws {
        let store = try await fixture.open()
        if isWritten { try await store.set("c/d", [:]) }
        try fixture.folder.remove(folder)
        try await expectUnavailable(store)
        #expect(await store.close()?.code == .unavailable)
    }

    @Test
    func `A replacement folder of the same name is detected`() async throws {
        let store = try await fixture.open()
        try await store.set("c/d", [:])
        try fixture.folder.remove("data/documents")
        try FileManager.default.createDirectory(atPath: fixture.folder["data/documents"], withIntermediateDirectories: false)
        try await expectUnavailable(store)
        #expect(await store.close()?.code == .unavailable)
    }

    @Test
    func `Without the journal folder, writes fail and reads succeed`() async throws {
        let store = try await fixture.open()
        try await store.set("c/d", [:])
        try fixture.folder.remove("data/journal")
        await expectStatus(.unavailable) { try await store.set("c/e", [:]) }
        #expect(try await store.fields("c/d") == [:])
        #expect(await store.close()?.message.contains("journal/") == true)
    }

    @Test
    func `A restored folder is used again`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            let (original, elsewhere) = (fixture.folder["data/documents"], fixture.folder["elsewhere"])
            try FileManager.default.moveItem(atPath: original, toPath: elsewhere)
            await expectStatus(.unavailable) { try await store.set("c/d", [:]) }
            #expect(await store.writeBlockedReason != nil)
            try FileManager.default.moveItem(atPath: elsewhere, toPath: original)
            #expect(await store.writeBlockedReason == nil)
            try await store.set("c/d", [:])
            #expect(await store.close() == nil)
        }
    }

    private func expectUnavailable(_ store: FileStore) async throws {
        for path in ["c/d", "c/e", "other/d"] {
            let error = await expectStatus(.unavailable) { try await store.document(at: DocumentPath(path)) }
            #expect(error?.message.contains("documents/ in the data folder was removed") == true)
        }
        await expectStatus(.unavailable) { try await store.list("c") }
        await expectStatus(.unavailable) { try await store.collections() }
        let error = await expectStatus(.unavailable) { try await store.set("c/d", [:]) }
        #expect(error?.message.contains("documents/ in the data folder was removed") == true)
        await expectStatus(.unavailable) { try await store.delete("c/nothing") }
        #expect(await store.writeBlockedReason?.message == error?.message)
    }
}
