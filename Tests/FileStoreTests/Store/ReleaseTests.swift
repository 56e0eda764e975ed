import DocumentModel
import StorageIO
import TestSupport
import Testing

@testable import FileStore

@Suite("Closed stores", .timeLimit(.minutes(10)))
struct ReleaseTests {
    @Test(arguments: [false, true])
    func `A closed store releases its memory and its system resources`(takesFolderEdits: Bool) async throws {
        var fixture = try StoreFixture()
        fixture.configuration.takesFolderEdits = takesFolderEdits
        weak var watcher: FolderWatcher?
        weak var cache: DocumentCache?
        do {
            fixture.configuration.folderWatcher = FolderWatcher()
            watcher = fixture.configuration.folderWatcher
            let store = try await fixture.open()
            cache = store.components.cache
            for number in 0..<10 { try await store.set("c/d\(number)", [:]) }
            _ = try await store.list("c")
            try await store.waitUntilIndexed()
            await store.close()
        }
        fixture.configuration.folderWatcher = FolderWatcher()
        // Threads may be about to end their work.
        let start = ContinuousClock.now
        while watcher != nil || cache != nil, start.duration(to: .now) < .seconds(60) {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(watcher == nil && cache == nil)
    }
}
