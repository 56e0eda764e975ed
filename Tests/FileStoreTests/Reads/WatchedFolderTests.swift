import DocumentModel
import DocumentStore
import Foundation
import Glibc
import TestSupport
import Testing
import UTF8Text

@testable import FileStore
@testable import StorageIO

@Suite("Edits of listed documents")
struct WatchedFolderTests {
    private var fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
        // Nothing else than a change makes a list look at a file again.
        var limits = FolderWatcher.Limits()
        limits.maximumAge = .seconds(3_600)
        limits.maximumIdleTime = .seconds(3_600)
        fixture.configuration.folderWatcher = FolderWatcher(limits)
    }

    private static let count = 8

    /// Calls `body` with a store whose documents have been listed, so that their files are known to be unchanged.
    private func withListedStore(_ body: (FileStore) async throws -> Void) async throws {
        try await fixture.withStore { store in
            _ = try await store.commit((0..<Self.count).map { try .set(DocumentPath("c/d\($0)"), ["n": .integer(Int64($0))]) })
            for _ in 0..<2 { #expect(try await numbers(in: store) == (0..<Self.count).map(Int64.init)) }
            #expect(fixture.configuration.folderWatcher.folderCount == 1)
            try await body(store)
        }
    }

    /// Returns the numbers of the documents in a list, which are those of a query.
    private func numbers(in store: FileStore) async throws -> [Int64] {
        let found = try await queried(in: store)
        let listed = try await store.list("c").documents.compactMap { entry -> EncodedDocument? in
            if case .document(let document) = entry { document } else { nil }
        }
        #expect(found == listed)
        return try numbers(of: found)
    }

    private func queried(in store: FileStore) async throws -> [EncodedDocument] {
        let query = try NormalizedQuery(StructuredQuery(.collection(CollectionPath("c"))))
        return try await store.run(query, maximumBytes: 1 << 20, readTime: nil).documents
    }

    private func numbers(of documents: [EncodedDocument]) throws -> [Int64] {
        try documents.map { document in
            guard case .integer(let number)? = try document.decoded().fields["n" as UTF8Key] else { return -1 }
            return number
        }
    }

    private func expected(_ changes: [Int: Int64?]) -> [Int64] {
        (0..<Self.count).compactMap { changes[$0] ?? Int64($0) }
    }

    private func path(_ number: Int) -> String { fixture.folder["data/documents/c/d\(number).json"] }

    /// Changes the number in a document file, in place or by replacing the file.
    private func edit(_ path: String, to number: Int, _ options: Data.WritingOptions = []) throws {
        let url = URL(filePath: path)
        let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        try Data(text.replacing(/"n": -?\d+/) { _ in "\"n\": \(number)" }.utf8).write(to: url, options: options)
    }

    @Test
    func `A list shows edits in place, by replacement and removals at once`() async throws {
        try await withListedStore { store in
            try edit(path(1), to: 10)
            #expect(try await numbers(in: store) == expected([1: 10]))
            try edit(path(2), to: 20, .atomic)
            #expect(try await numbers(in: store) == expected([1: 10, 2: 20]))
            try FileManager.default.removeItem(atPath: path(3))
            #expect(try await numbers(in: store) == expected([1: 10, 2: 20, 3: Int64?.none]))
        }
    }

    @Test
    func `A list shows what commits and edits have written, in any order`() async throws {
        try await withListedStore { store in
            var contents: [Int: Int64?] = [:]
            for step in 0..<200 {
                let number = step * 7 % Self.count
                if step.isMultiple(of: 3) {
                    try edit(path(number), to: 1_000 + step)
                } else {
                    try await store.set("c/d\(number)", ["n": .integer(Int64(1_000 + step))])
                }
                contents[number] = Int64(1_000 + step)
                if !step.isMultiple(of: 4) { #expect(try await numbers(in: store) == expected(contents)) }
            }
        }
    }

    @Test
    func `Every list shows the edits that were complete before it, while others list and commit`() async throws {
        try await withListedStore { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        for step in 1...100 {
                            if number.isMultiple(of: 2) {
                                try edit(path(number), to: step, .atomic)
                            } else {
                                try await store.set("c/d\(number)", ["n": .integer(Int64(step))])
                            }
                            let query = try NormalizedQuery(StructuredQuery(.collection(CollectionPath("c"))))
                            let found = try await store.run(query, maximumBytes: 1 << 20, readTime: nil).documents
                            #expect(try found[number].decoded().fields["n" as UTF8Key] == .integer(Int64(step)))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `A list shows a folder that was replaced, and one that was removed and made again`() async throws {
        try await withListedStore { store in
            let folder = fixture.folder["data/documents/c"]
            try FileManager.default.copyItem(atPath: folder, toPath: fixture.folder["copy"])
            try edit(fixture.folder["copy/d5.json"], to: 50)
            #expect(rename(folder, fixture.folder["old"]) == 0)
            #expect(rename(fixture.folder["copy"], folder) == 0)
            for _ in 0..<2 { #expect(try await numbers(in: store) == expected([5: 50])) }
            #expect(rename(folder, fixture.folder["copy"]) == 0)
            #expect(rename(fixture.folder["old"], folder) == 0)
            for _ in 0..<2 { #expect(try await numbers(in: store) == expected([:])) }
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.copyItem(atPath: fixture.folder["copy"], toPath: folder)
            for _ in 0..<2 { #expect(try await numbers(in: store) == expected([5: 50])) }
        }
    }

    @Test
    func `A list shows edits through another hard link`() async throws {
        try await fixture.withStore { store in
            _ = try await store.commit((0..<Self.count).map { try .set(DocumentPath("c/d\($0)"), ["n": .integer(Int64($0))]) })
            #expect(link(path(6), fixture.folder["link"]) == 0)
            for _ in 0..<2 { #expect(try await numbers(in: store) == expected([:])) }
            try edit(fixture.folder["link"], to: 60)
            #expect(try await numbers(in: store) == expected([6: 60]))
        }
    }

    @Test
    func `Where the system refuses to watch folders, lists show edits at once`() async throws {
        var fixture = fixture
        fixture.configuration.folderWatcher = FolderWatcher(FolderWatcher.Limits()) { _ throws(FileSystemError) in
            throw FileSystemError("inotify_init1", code: EMFILE)
        }
        let copy = fixture
        try await copy.withStore { store in
            _ = try await store.commit((0..<Self.count).map { try .set(DocumentPath("c/d\($0)"), ["n": .integer(Int64($0))]) })
            for _ in 0..<2 { #expect(try await numbers(in: store) == expected([:])) }
            try edit(copy.folder["data/documents/c/d1.json"], to: 10)
            #expect(try await numbers(in: store) == expected([1: 10]))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `A change that the system does not report is shown when the status has reached its maximum age`() async throws {
        var fixture = fixture
        fixture.configuration.folderWatcher = FolderWatcher()
        let copy = fixture
        try await copy.withStore { store in
            _ = try await store.commit((0..<Self.count).map { try .set(DocumentPath("c/d\($0)"), ["n": .integer(Int64($0))]) })
            for _ in 0..<2 { #expect(try await numbers(in: store) == expected([:])) }
            #expect(link(copy.folder["data/documents/c/d1.json"], copy.folder["link"]) == 0)
            try edit(copy.folder["link"], to: 10)
            // A query may come before that time, and the list that is compared with it after.
            while try numbers(of: await queried(in: store)) != expected([1: 10]) { try await Task.sleep(for: .milliseconds(20)) }
            #expect(try await numbers(in: store) == expected([1: 10]))
        }
    }
}
