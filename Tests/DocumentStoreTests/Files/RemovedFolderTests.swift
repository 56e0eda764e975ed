import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing

@Suite("A folder that is removed or replaced while the store is open is noticed")
struct RemovedFolderTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(
        "Nothing is said not to exist, nothing is written, and closing does not claim success",
        arguments: ["data", "data/documents"],
        [false, true]
    )
    func removed(folder: String, isWritten: Bool) async throws {
        let store = try await fixture.open()
        if isWritten { try await store.set("c/d", [:]) }
        try fixture.folder.remove(folder)
        try await expectUnavailable(store)
        #expect(await store.close()?.code == .unavailable)
    }

    @Test("A folder of the same name in its place is another one")
    func replaced() async throws {
        let store = try await fixture.open()
        try await store.set("c/d", [:])
        try fixture.folder.remove("data/documents")
        try FileManager.default.createDirectory(atPath: fixture.folder["data/documents"], withIntermediateDirectories: false)
        try await expectUnavailable(store)
        #expect(await store.close()?.code == .unavailable)
    }

    @Test("Without the journal's folder nothing is written, and documents are read")
    func journal() async throws {
        let store = try await fixture.open()
        try await store.set("c/d", [:])
        try fixture.folder.remove("data/journal")
        await expectStatus(.unavailable) { try await store.set("c/e", [:]) }
        #expect(try await store.fields("c/d") == [:])
        #expect(await store.close()?.message.contains("journal/") == true)
    }

    @Test("A folder that is put back is used again")
    func putBack() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            let (place, elsewhere) = (fixture.folder["data/documents"], fixture.folder["elsewhere"])
            try FileManager.default.moveItem(atPath: place, toPath: elsewhere)
            await expectStatus(.unavailable) { try await store.set("c/d", [:]) }
            #expect(await store.writeObstacle != nil)
            try FileManager.default.moveItem(atPath: elsewhere, toPath: place)
            #expect(await store.writeObstacle == nil)
            try await store.set("c/d", [:])
            #expect(await store.close() == nil)
        }
    }

    private func expectUnavailable(_ store: FileStore) async throws {
        for path in ["c/d", "c/e", "other/d"] {
            let error = await expectStatus(.unavailable) { try await store.document(at: DocumentPath(path)) }
            #expect(error?.message.contains("documents/ was removed") == true)
        }
        await expectStatus(.unavailable) { try await store.list("c") }
        await expectStatus(.unavailable) { try await store.collections() }
        let error = await expectStatus(.unavailable) { try await store.set("c/d", [:]) }
        #expect(error?.message.contains("documents/ was removed") == true)
        await expectStatus(.unavailable) { try await store.delete("c/nothing") }
        #expect(await store.writeObstacle?.message == error?.message)
    }
}
