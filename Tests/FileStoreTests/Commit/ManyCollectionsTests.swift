import DocumentIndex
import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing

@testable import FileStore

@Suite("A commit keeps few folders and files open, whatever their number")
struct ManyCollectionsTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(arguments: [true, false])
    func `The number of open files is limited from staging to the end of the batch`(applies: Bool) async throws {
        try await fixture.withStore { store throws in
            // Waits for the index build, which reads the folders.
            _ = try await store.readIndex { $0.sequence }
            var fileWriter = DocumentFileWriter(store.components.files, cache: store.components.cache)
            let before = try openCount()
            var staged: [DocumentFileWriter.StagedDocument] = []
            for number in 0..<700 { staged.append(try fileWriter.stage(document("c\(number)/d/s/x"))) }
            #expect(try openCount() - before <= 130 + 512)
            if applies {
                for staged in staged { try fileWriter.moveIntoPlace(staged) }
            } else {
                fileWriter.discard(staged)
            }
            staged = []
            #expect(try openCount() - before <= 130)
            fileWriter.endBatch()
            #expect(try openCount() == before)
            #expect(try await store.collections(under: nil, after: nil, limit: 1_000).collections.count == (applies ? 700 : 0))
            #expect(try fixture.folder.contents(of: "data/documents").count == (applies ? 700 : 0))
        }
    }

    @Test
    func `One commit writes or deletes documents in thousands of collections`() async throws {
        let paths = try (0..<3_000).map { try DocumentPath("c\($0)/d") }
        try await fixture.withStore { store throws in
            _ = try await store.commit(paths.map { try .set($0, [:]) })
            #expect(try await store.collections(under: nil, after: nil, limit: 10_000).collections.count == paths.count)
            _ = try await store.commit(paths.map { Write(path: $0, operation: .delete) })
            #expect(try await store.collections(under: nil, after: nil, limit: 10_000).collections.isEmpty)
        }
        #expect(try fixture.folder.names(in: "data/documents").isEmpty)
    }

    /// Returns the number of open files and folders of collections.
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
