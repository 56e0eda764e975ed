import DocumentModel
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import DocumentStore

@Suite("A commit holds few folders and files open, however many it writes to")
struct ManyCollectionsTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test("From staging to the end of the batch", arguments: [true, false])
    func staging(installs: Bool) async throws {
        try await fixture.withStore { store throws in
            // The index is made once, and reads the folders for that.
            _ = try await store.readIndex { $0.sequence }
            var installer = DocumentInstaller(store.parts.files, cache: store.parts.cache)
            let before = try openCount()
            var staged: [DocumentInstaller.StagedFile] = []
            for number in 0..<700 { staged.append(try installer.stage(document("c\(number)/d/s/x"))) }
            #expect(try openCount() - before <= 130 + 512)
            if installs {
                for staged in staged { try installer.install(staged) }
            } else {
                installer.discard(staged)
            }
            staged = []
            #expect(try openCount() - before <= 130)
            installer.endBatch()
            #expect(try openCount() == before)
            #expect(try await store.collections(under: nil, after: nil, limit: 1_000).collections.count == (installs ? 700 : 0))
            #expect(try fixture.folder.contents(of: "data/documents").count == (installs ? 700 : 0))
        }
    }

    @Test("Documents in thousands of collections are written and deleted at once")
    func commit() async throws {
        let paths = try (0..<3_000).map { try DocumentPath("c\($0)/d") }
        try await fixture.withStore { store throws in
            _ = try await store.commit(paths.map { try .set($0, [:]) })
            #expect(try await store.collections(under: nil, after: nil, limit: 10_000).collections.count == paths.count)
            _ = try await store.commit(paths.map { Write(path: $0, operation: .delete) })
            #expect(try await store.collections(under: nil, after: nil, limit: 10_000).collections.isEmpty)
        }
        #expect(try fixture.folder.names(in: "data/documents").isEmpty)
    }

    /// How many files and folders of collections this process has open.
    private func openCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target?.hasPrefix(fixture.folder["data/documents/"]) == true
        }
    }

    private func document(_ path: String) throws -> EncodedDocument {
        let time = Timestamp.current()
        return EncodedDocument(Document(path: try DocumentPath(path), fields: [:], createTime: time, updateTime: time))
    }
}
