import DocumentModel
import Foundation
import GRDB
import Logging
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("The integrity of the index file")
struct IndexIntegrityTests {
    private let fixture: StoreFixture
    private static let file = "data/index.sqlite"

    init() throws {
        fixture = try StoreFixture()
    }

    /// Creates a database in which only `c/right` has the number 1, and another one with the same history and other documents.
    private func fill() async throws {
        try await fixture.withStore { store in
            try await store.set("c/both", ["n": .integer(0)])
            try await store.waitUntilIndexed()
        }
        try fixture.folder.copy("data", to: "other")
        try await fixture.withStore(at: "other") { store in
            for id in ["wrong", "other"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            try await store.waitUntilIndexed()
        }
        try await fixture.withStore { store in
            for id in ["right", "more"] { try await store.set("c/\(id)", ["n": .integer(id == "right" ? 1 : 2)]) }
            try await store.waitUntilIndexed()
        }
    }

    /// Copies the folder as a crash would leave it, with the inode of the copied index in the open marker.
    private func copyAsCrash() throws {
        try fixture.folder.copy("data", to: "crash")
        func inode(_ folder: String) throws -> String {
            let attributes = try FileManager.default.attributesOfItem(atPath: fixture.folder[folder + "/index.sqlite"])
            return "/\(try #require(attributes[.systemFileNumber] as? Int))/"
        }
        let text = try fixture.folder.text(of: "crash/hearth.json")
        let marked = try text.replacing(inode("data"), with: inode("crash"))
        #expect(marked != text)
        try fixture.folder.write(marked, to: "crash/hearth.json")
    }

    private func expectCorrect(at folder: String = "data", logger: Logger = .silent) async throws {
        try await fixture.withStore(at: folder, logger: logger) { store in
            #expect(try await store.ids(in: "c", where: "n", is: 1) == ["right"])
            try await store.set("c/late", ["n": .integer(3)])
            #expect(try await store.ids(in: "c", where: "n", is: 3) == ["late"])
        }
        #expect(try await fixture.check(folder).findings == [])
    }

    @Test
    func `An index of another database with the same history is not used`() async throws {
        try await fill()
        try fixture.folder.write(fixture.folder.bytes(of: "other/index.sqlite"), to: Self.file)
        #expect(try await fixture.findings().map(\.kind) == [.damagedIndex])
        try await expectCorrect()
    }

    @Test
    func `An index of another database that overwrites the file after a crash is not used`() async throws {
        try await fill()
        let other = try fixture.folder.bytes(of: "other/index.sqlite")
        try await fixture.withStore { store in
            try await store.set("c/more", ["n": .integer(4)])
            _ = try await store.ids(in: "c", where: "n", is: 4)
            try copyAsCrash()
        }
        try fixture.folder.remove("crash/index.sqlite-wal")
        try fixture.folder.write(other, to: "crash/index.sqlite")
        try await expectCorrect(at: "crash")
    }

    @Test
    func `An open index maps no file, whose pages might have no blocks on a full disk`() async throws {
        try await fill()
        try await fixture.withStore { store in
            try await store.set("c/more", ["n": .integer(4)])
            #expect(try await store.ids(in: "c", where: "n", is: 4) == ["more"])
            let names = try fixture.folder.names(in: "data")
            #expect(names.contains("index.sqlite-wal") && !names.contains("index.sqlite-shm"), "\(names)")
        }
    }

    @Test(
        arguments: [false, true]
    )
    func `A replacement of the open file is detected, with and without later writes`(isWritten: Bool) async throws {
        try await fill()
        let other = try fixture.folder.bytes(of: "other/index.sqlite")
        try await fixture.withStore { store in
            try await store.set("c/more", ["n": .integer(4)])
            #expect(try await store.ids(in: "c", where: "n", is: 4) == ["more"])
            try fixture.folder.remove(Self.file)
            try fixture.folder.write(other, to: Self.file)
            if isWritten { try await store.set("c/more", ["n": .integer(5)]) }
        }
        try await expectCorrect()
    }

    @Test
    func `A WAL file of another index is not applied`() async throws {
        try await fill()
        let log = try await fixture.withStore(at: "other") { store in
            for number in 0..<50 { try await store.set("c/wrong\(number)", ["n": .integer(1)]) }
            _ = try await store.ids(in: "c", where: "n", is: 1)
            return try fixture.folder.bytes(of: "other/index.sqlite-wal")
        }
        #expect(log.count > 10_000)
        try fixture.folder.write(log, to: Self.file + "-wal")
        try fixture.folder.write(Array(repeating: 1, count: 100), to: Self.file + "-shm")
        try await expectCorrect()
    }

    @Test(
        arguments: [0, 20_000, 100_000]
    )
    func `Commits that a truncated WAL file lost are applied from the journal`(count: Int) async throws {
        try await fill()
        try await fixture.withStore { store in
            for number in 0..<50 {
                try await store.set("c/more", ["n": .integer(Int64(number + 10))])
                _ = try await store.ids(in: "c", where: "n", is: 1)
            }
            try copyAsCrash()
        }
        let log = try fixture.folder.bytes(of: "crash/index.sqlite-wal")
        try #require(log.count > count)
        try fixture.folder.write(Array(log.prefix(count)), to: "crash/index.sqlite-wal")
        try fixture.folder.write([1, 2, 3], to: "crash/index.sqlite-shm")
        try await expectCorrect(at: "crash")
    }

    /// Creates a copy that a kill during a WAL checkpoint left: of the index, the first pages are written, but no added ones.
    ///
    /// - Parameter pageCount: The maximum number of pages that are written.
    private func copyAsKilledDuringCheckpoint(pageCount: Int) async throws {
        try await fill()
        try await fixture.withStore { store in
            for number in 0..<60 {
                let text = String(repeating: "x", count: 1_000) + "\(number)"
                try await store.set("c/x\(number)", ["n": .integer(Int64(number + 10)), "s": .string(text)])
                _ = try await store.ids(in: "c", where: "n", is: 1)
            }
            try copyAsCrash()
        }
        let before = try fixture.folder.bytes(of: "crash/index.sqlite")
        for suffix in ["", "-wal"] {
            try fixture.folder.write(fixture.folder.bytes(of: "crash/index.sqlite" + suffix), to: "copy/index.sqlite" + suffix)
        }
        let database = try DatabaseQueue(path: fixture.folder["copy/index.sqlite"])
        try await database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try database.close()
        let after = try fixture.folder.bytes(of: "copy/index.sqlite")
        try #require(after.count > before.count)
        let writtenBytes = min(8_192 * pageCount, before.count)
        try fixture.folder.write(Array(after.prefix(writtenBytes) + before.dropFirst(writtenBytes)), to: "crash/index.sqlite")
    }

    @Test(arguments: [1, 1_000])
    func `An index that a kill during a checkpoint left too short is used, with its WAL file`(pageCount: Int) async throws {
        try await copyAsKilledDuringCheckpoint(pageCount: pageCount)
        let log = WarningLog(from: .notice)
        try await expectCorrect(at: "crash", logger: log.logger)
        #expect(log.entries.allSatisfy { $0.metadata["index.reason"] == nil }, "\(log.entries)")
    }

    @Test(arguments: [0, 100_000])
    func `An index that a kill left too short is rebuilt if its WAL file is truncated`(count: Int) async throws {
        try await copyAsKilledDuringCheckpoint(pageCount: 1_000)
        let file = "crash/index.sqlite-wal"
        let wal = try fixture.folder.bytes(of: file)
        try #require(wal.count > count)
        try fixture.folder.write(Array(wal.prefix(count)), to: file)
        let log = WarningLog(from: .notice)
        try await expectCorrect(at: "crash", logger: log.logger)
        #expect(log.entries.count { $0.metadata["index.reason"] != nil } == 1, "\(log.entries)")
    }

    @Test
    func `An index that was not written after a crash is used by the next start`() async throws {
        try await fill()
        try await fixture.withStore { store in
            try await store.set("c/more", ["n": .integer(10)])
            _ = try await store.ids(in: "c", where: "n", is: 1)
            try copyAsCrash()
        }
        try await fixture.withStore(at: "crash") { store in try await store.waitUntilIndexed() }
        #expect(try await fixture.check("crash").findings == [])
        try await expectCorrect(at: "crash")
    }

    @Test(arguments: ["", "-wal", "-shm"])
    func `Folders with the names of index files are moved aside, with one warning`(suffix: String) async throws {
        try await fill()
        if suffix.isEmpty { try fixture.folder.remove(Self.file) }
        try fixture.folder.write("keep", to: Self.file + suffix + "/file")
        let log = WarningLog(from: .notice)
        try await expectCorrect(logger: log.logger)
        #expect(log.entries.count == (suffix.isEmpty ? 1 : 0), "\(log.entries)")
        #expect(try fixture.folder.text(of: Self.file + suffix + ".aside-1/file") == "keep")
    }

    @Test(arguments: [0, 0xa5] as [UInt8])
    func `Damaged pages are found at startup, and the index is rebuilt before the first query`(byte: UInt8) async throws {
        try await fixture.withStore { store in
            for number in 0..<400 {
                try await store.set(
                    "c/d\(number)",
                    ["n": .integer(Int64(number)), "s": .string(String(repeating: "x", count: 200))]
                )
            }
            try await store.waitUntilIndexed()
        }
        var bytes = try fixture.folder.bytes(of: Self.file)
        let pageBytes = 8_192
        try #require(bytes.count > 20 * pageBytes)
        for offset in (bytes.count / 2 / pageBytes * pageBytes)..<(bytes.count / 2 / pageBytes + 4) * pageBytes {
            bytes[offset] = byte
        }
        try fixture.folder.write(bytes, to: Self.file)
        let log = WarningLog(from: .notice)
        try await fixture.withStore(logger: log.logger) { store throws in
            for number in [0, 77, 399] {
                #expect(try await store.ids(in: "c", where: "n", is: Int64(number)) == ["d\(number)"])
            }
        }
        let reasons = log.entries.compactMap { $0.metadata["index.reason"].map { "\($0)" } }
        #expect(reasons.count == 1 && reasons[0].contains("is damaged"), "\(log.entries)")
        #expect(try await fixture.check().findings == [])
    }

    @Test
    func `A symbolic link is not followed`() async throws {
        try await fill()
        try fixture.folder.remove(Self.file)
        try fixture.folder.link(Self.file, to: fixture.folder["other/index.sqlite"])
        let other = try fixture.folder.bytes(of: "other/index.sqlite")
        try await expectCorrect()
        #expect(try fixture.folder.bytes(of: "other/index.sqlite") == other)
    }
}
