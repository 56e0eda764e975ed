import Dispatch
import DocumentModel
import DocumentStore
import Foundation
import StorageIO
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Concurrent readers")
struct ReadersTests {
    @Test(.timeLimit(.minutes(10)))
    func `A document is read while all listing threads are busy`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            let gate = DispatchSemaphore(value: 0)
            for _ in 0..<fixture.configuration.readThreadCount { store.scanQueue.submit { gate.wait() } }
            let document = try await store.document(at: DocumentPath("c/d"), readTime: nil)
            for _ in 0..<fixture.configuration.readThreadCount { gate.signal() }
            #expect(document != nil)
        }
    }

    @Test
    func `A document is read from the cache while its file is unchanged`() async throws {
        let fixture = try StoreFixture()
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d/e/ü f")
            try await store.set(path.string, ["n": .integer(1)])
            // Concurrent changes may make the kernel revalidate its cache, and then the lookup fails.
            let cached = (0..<1_000).lazy.compactMap { _ in store.components.files.cachedDocument(at: path) }.first
            #expect(try cached?.decoded().fields == ["n": .integer(1)])
            try fixture.folder.write("{\"n\": 2}", to: "data/documents/c/d/e/ü f.json")
            #expect(store.components.files.cachedDocument(at: path) == nil)
        }
    }

    @Test
    func `A recently modified file is not cached by a read, since it may be partially written`() async throws {
        let fixture = try StoreFixture()
        let file = fixture.folder["data/documents/c/d.json"]
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d")
            try await store.set("c/d", [:])
            let text = try fixture.folder.text(of: "data/documents/c/d.json")
            // A modification time in the future stays recent, however long the read takes.
            for (age, isKnown) in [(-600.0, false), (600.0, true)] {
                try fixture.folder.write(text, to: "data/documents/c/d.json")
                try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: file)
                #expect(try await store.document(at: path) != nil)
                #expect((0..<1_000).contains { _ in store.components.files.cachedDocument(at: path) != nil } == isKnown)
            }
        }
    }
}
