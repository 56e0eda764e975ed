import DocumentModel
import DocumentStore
import Foundation
import Logging
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Commits on a full disk", .tags(.crash), .enabled(if: TmpfsVolume.isAvailable, "Mounting a file system takes root"))
struct NoSpaceTests {
    @Test
    func `Acknowledged commits are kept, others are rejected, and writes resume when space is free`() async throws {
        var fixture = try StoreFixture()
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "1024k")
        defer { try? disk.unmount() }
        fixture.configuration.checkpointBytes = 128 << 10
        fixture.configuration.retentionBytes = 128 << 10
        try fixture.folder.write([UInt8](repeating: 0, count: 64 << 10), to: "disk/ballast")
        let text = Value.string(String(repeating: "x", count: 20_000))
        let written = try await fixture.withStore(at: "disk/data") { store in
            var written: [String] = []
            var rejection: StatusError?
            while rejection == nil {
                do {
                    try await store.set("c/d\(written.count)", ["text": text])
                    written.append("d\(written.count)")
                } catch let error as StatusError {
                    rejection = error
                }
            }
            #expect(rejection?.code == .resourceExhausted)
            #expect(rejection?.message.contains("no space left") == true)
            #expect(written.count > 5)
            #expect(Set(try await store.list("c").ids) == Set(written))
            #expect(Set(try fixture.folder.names(in: "disk/data/documents/c")) == Set(written.map { $0 + ".json" }))
            await expectStatus(.resourceExhausted) {
                try await store.commit((0..<60).map { try Write.create(DocumentPath("e/d\($0)"), ["text": text]) })
            }
            #expect(try await store.list("e").ids.isEmpty)
            return written
        }
        // A start may need a little space to update the manifest.
        try fixture.folder.remove("disk/ballast")
        try await fixture.withStore(at: "disk/data") { store in
            #expect(Set(try await store.list("c").ids) == Set(written))
            try fixture.folder.remove("disk/data/documents/c")
            let result = try await store.set("c/after", ["text": text])
            #expect(result.sequence == SequenceNumber(UInt64(written.count + 1)))
            #expect(try await store.list("c").ids == ["after"])
        }
    }

    @Test
    func `A full disk and the return of space are logged once with their cause; writes are reported as blocked meanwhile`()
        async throws
    {
        let fixture = try StoreFixture()
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "2m")
        defer { try? disk.unmount() }
        let logs = WarningLog(from: .notice)
        try await fixture.withStore(at: "disk/data", logger: logs.logger) { store in
            try await store.set("c/a", [:])
            #expect(await store.writeBlockedReason == nil)
            let text = Value.string(String(repeating: "x", count: 20_000))
            try await fixture.waitForIndex(of: store, at: "disk/data")
            try disk.fill()
            for _ in 0..<3 {
                await expectStatus(.resourceExhausted) { try await store.set("c/b", ["text": text]) }
            }
            let reason = await store.writeBlockedReason
            #expect(reason?.code == .resourceExhausted)
            #expect(reason?.message.contains("disk is full") == true && reason?.message.contains("c/b") == false)
            let full = logs.entries("Disk full, rejecting commits that don't fit")
            #expect(full.count == 1)
            #expect(full.first?["error.cause"].map { "\($0)".contains("No space left on device") } == true)
            #expect(logs.entries("Disk space available again, accepting commits").isEmpty)
            try fixture.folder.remove("disk/ballast")
            #expect(await store.writeBlockedReason == nil)
            try await store.set("c/b", ["text": text])
            #expect(logs.entries("Disk space available again, accepting commits").count == 1)
            #expect(logs.entries("Disk full, rejecting commits that don't fit").count == 1)
        }
    }

    @Test
    func `A disk that other programs have filled blocks writes before a commit fails, and until there is space`() async throws {
        let fixture = try StoreFixture()
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "2m")
        defer { try? disk.unmount() }
        try await fixture.withStore(at: "disk/data") { store in
            try await store.set("c/a", [:])
            try await fixture.waitForIndex(of: store, at: "disk/data")
            try disk.fill()
            #expect(await store.writeBlockedReason?.code == .resourceExhausted)
            try fixture.folder.remove("disk/ballast")
            #expect(await store.writeBlockedReason == nil)
        }
    }

    @Test
    func `A first commit without space for the journal loses nothing, and the next start logs no loss`() async throws {
        var fixture = try StoreFixture()
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "1024k")
        defer { try? disk.unmount() }
        fixture.configuration.segmentBytes = 4 << 20
        // More than the index returns when it is created on the full disk.
        let text = Value.string(String(repeating: "x", count: 600_000))
        let position = try await fixture.withStore(at: "disk/data") { store in
            try disk.fill()
            await expectStatus(.resourceExhausted) { try await store.set("c/d", ["text": text]) }
            try fixture.folder.remove("disk/ballast")
            try fixture.folder.copy("disk/data", to: "killed")
            return store.position
        }
        let logs = WarningLog()
        for folder in ["disk/data", "killed"] {
            try await fixture.withStore(at: folder, logger: logs.logger) { store throws in
                #expect(store.position == position)
                #expect(try await store.list("c").ids.isEmpty)
            }
            #expect(try await fixture.check(folder).findings.isEmpty)
        }
        #expect(logs.warnings.isEmpty, "\(logs.warnings)")
        try await fixture.withStore(at: "killed") { store throws in
            #expect(try await store.set("c/d", [:]).sequence == SequenceNumber(1))
        }
    }

    @Test
    func `Without space for a whole segment, the journal preallocates a part`() async throws {
        var fixture = try StoreFixture()
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "1024k")
        defer { try? disk.unmount() }
        fixture.configuration.segmentBytes = 4 << 20
        let text = Value.string(String(repeating: "x", count: 10_000))
        for start in 0..<3 {
            try await fixture.withStore(at: "disk/data") { store in
                for number in 0..<8 { try await store.set("c/d\(start)-\(number)", ["text": text]) }
                #expect(try #require(await store.storage()).journalBytes < 700_000)
                // As after a crash: the segment is not truncated.
                try fixture.folder.copy("disk/data", to: "killed\(start)")
            }
            try await fixture.withStore(at: "killed\(start)") { store throws in
                #expect(try await store.list("c").ids.count == 8 * (start + 1))
            }
            #expect(try await fixture.check("disk/data").findings.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `On a disk that is full to its last byte, documents are deleted and the store is closed cleanly`() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.checkpointIdleTime = .milliseconds(20)
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "1024k")
        defer { try? disk.unmount() }
        let text = Value.string(String(repeating: "x", count: 10_000))
        let paths = (0..<20).map { "c/d\($0)" }
        try await fixture.withStore(at: "disk/data") { store in
            for path in paths { try await store.set(path, ["text": text]) }
        }
        // With a journal that continues a segment and one that begins a segment, and after a crash.
        for (round, isClean) in [true, false, true, false].enumerated() {
            let logs = WarningLog(from: .info)
            let store = try await fixture.open(at: "disk/data", logger: logs.logger)
            #expect(logs.entries.first { $0.message.hasPrefix("Opened") }?.metadata["store.was_closed"] == "true")
            for path in paths[(5 * round)..<(5 * round + 5)] {
                try disk.fill()
                await expectStatus(.resourceExhausted) { try await store.set("c/more", ["text": text]) }
                while try await store.document(at: DocumentPath(path)) != nil {
                    do {
                        try await store.delete(path)
                    } catch let error as StatusError where error.code == .resourceExhausted {
                        // On such a small disk, the index may take what was reserved, and return it.
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
            }
            try disk.fill()
            if isClean {
                #expect(await store.close() == nil)
            } else {
                // A checkpoint is recorded, too.
                await store.waitForCheckpoint()
                #expect(await store.close() == nil)
            }
        }
        try fixture.folder.remove("disk/ballast")
        #expect(try await fixture.check("disk/data").findings.isEmpty)
        try await fixture.withStore(at: "disk/data") { store throws in
            #expect(try await store.list("c").ids.isEmpty)
            try await store.set("c/again", ["text": text])
        }
    }

    @Test
    func `A commit of too many deletions on a full disk is rejected with advice, and fewer succeed`() async throws {
        let fixture = try StoreFixture()
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "1024k")
        defer { try? disk.unmount() }
        let text = Value.string(String(repeating: "x", count: 10_000))
        try await fixture.withStore(at: "disk/data") { store in
            for number in 0..<12 { try await store.set("c/d\(number)", ["text": text]) }
            try await fixture.waitForIndex(of: store, at: "disk/data")
            try disk.fill()
            let rejection = await expectStatus(.resourceExhausted) {
                try await store.commit((0..<12).map { try .delete(DocumentPath("c/d\($0)")) })
            }
            #expect(rejection?.message.contains("Delete fewer than 12 documents at once") == true, "\(rejection?.message ?? "")")
            for number in 0..<12 { try await store.delete("c/d\(number)") }
        }
    }

    @Test
    func `A large commit that lacks inodes is rejected alone`() async throws {
        let fixture = try StoreFixture()
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "64m", inodes: 500)
        defer { try? disk.unmount() }
        try await fixture.withStore(at: "disk/data") { store in
            let rejection = await expectStatus(.resourceExhausted) {
                try await store.commit((0..<480).map { try .set(DocumentPath("c/d\($0)"), [:]) })
            }
            #expect(rejection?.message.contains("no inodes left") == true)
            #expect(try await store.list("c").ids.isEmpty)
            #expect(await store.writeBlockedReason == nil)
            _ = try await store.commit((0..<300).map { try .set(DocumentPath("c/d\($0)"), [:]) })
            #expect(try await store.list("c", limit: 1_000).documents.count == 300)
            _ = try await store.commit((0..<300).map { try .delete(DocumentPath("c/d\($0)")) })
        }
        #expect(try await fixture.check("disk/data").findings.isEmpty)
    }

    @Test(.timeLimit(.minutes(10)))
    func `Inodes that run out are reported before, the refusal names them, and documents can still be deleted`() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.checkpointIdleTime = .milliseconds(20)
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "64m", inodes: 200)
        defer { try? disk.unmount() }
        let logs = WarningLog(from: .info)
        try await fixture.withStore(at: "disk/data", logger: logs.logger) { store in
            for number in 0..<20 { try await store.set("c/d\(number)", [:]) }
            #expect(try #require(await store.storage()).lowDiskResources == [])
            #expect(try #require(await store.storage()?.inodes).total == 200)
            try disk.fillInodes()
            let rejection = await expectStatus(.resourceExhausted) { try await store.set("c/more", [:]) }
            #expect(rejection?.message.contains("no inodes left") == true)
            #expect(try #require(await store.storage()).lowDiskResources == [.inodes])
            #expect(try #require(await store.storage()).lowDiskResources == [.inodes])
            #expect(logs.entries("The disk is running out of inodes, of which every document takes one").count == 1)
            #expect(logs.entries("Disk full, rejecting commits that don't fit").count == 1)
            try await store.delete("c/d0")
            try disk.fillInodes()
            await store.waitForCheckpoint()
            try fixture.folder.remove("disk/inodes")
            #expect(try #require(await store.storage()).lowDiskResources == [])
            #expect(logs.entries.contains { $0.message.hasPrefix("The disk has enough inodes") })
            try await store.set("c/more", [:])
            try disk.fillInodes()
        }
        let names = try fixture.folder.text(of: "disk/data/hearth.json")
        #expect(names.contains("\"clean\":true"))
    }

    @Test
    func `Of concurrent commits, those that fit succeed`() async throws {
        let fixture = try StoreFixture()
        // Space for the small commits and the index, and for either the files or the journal records of a huge commit, not both.
        let disk = try TmpfsVolume(at: URL(filePath: fixture.folder["disk"]), size: "12m")
        defer { try? disk.unmount() }
        try await fixture.withStore(at: "disk/data") { store in
            try await store.set("c/first", [:])
            let huge = Value.string(String(repeating: "x", count: 1_000_000))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<20 {
                    group.addTask { try await store.set("c/d/sub\(index)/small", [:]) }
                    guard index % 4 == 0 else { continue }
                    group.addTask {
                        await expectStatus(.resourceExhausted) {
                            try await store.commit(
                                (0..<7).map { try Write.create(DocumentPath("c/huge\(index)-\($0)"), ["text": huge]) }
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.list("c", includingMissing: true).ids == ["(d)", "first"])
            #expect(try await store.collections(under: "c/d").count == 20)
            let attributes = try FileManager.default.attributesOfFileSystem(forPath: disk.folder.path)
            let free = try #require(attributes[.systemFreeSize] as? Int)
            #expect(free > 8 << 20, "Rejected commits leave nothing on disk")
        }
    }
}
