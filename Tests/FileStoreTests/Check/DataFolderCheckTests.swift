import DocumentModel
import DocumentStore
import Foundation
import GRDB
import Logging
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Checks of a data folder")
struct DataFolderCheckTests {
    private let fixture: StoreFixture

    init() throws {
        var fixture = try StoreFixture()
        fixture.configuration.segmentBytes = 4 << 10
        self.fixture = fixture
    }

    @Test
    func `A closed folder has no findings, is counted and left unchanged`() async throws {
        try await fill()
        let before = try fixture.folder.contents(of: "data")
        let (report, findings) = try await check()
        #expect(findings.isEmpty)
        #expect(report.documents == 13 && report.collections == 3)
        #expect(report.commits == 24 && report.segments > 1)
        #expect(
            report.documentBytes == before.filter { $0.key.hasPrefix("documents/") }.values.reduce(0) { $0 + $1.count } - marker
        )
        #expect(report.journalBytes == before.filter { $0.key.hasPrefix("journal/") }.values.reduce(0) { $0 + $1.count })
        #expect(try fixture.folder.contents(of: "data") == before)
    }

    @Test
    func `A folder in use and a folder that is not a data folder are rejected`() async throws {
        try await fixture.withStore { store in
            let error = await expectStatus(.failedPrecondition) { try await check() }
            #expect(error?.message.contains("in use") == true)
        }
        try fixture.folder.write("x", to: "other/file")
        await expectStatus(.failedPrecondition) { try await check("other") }
        await expectStatus(.notFound) { try await check("nothing") }
        #expect(try fixture.folder.names(in: "other") == ["file"])
    }

    @Test(arguments: Fault.allCases)
    func `A faulty document file is reported with its location`(fault: Fault) async throws {
        try await fill()
        // The index would report differences too.
        try fixture.folder.remove("data/index.sqlite")
        try fault.make(in: fixture.folder)
        let (report, findings) = try await check()
        #expect(findings.map(\.kind) == [fault.kind], "\(findings)")
        #expect(findings.first?.file.path == fault.file)
        #expect(report.findings == (fault == .edited ? 0 : 1))
        #expect(report.notices == (fault == .edited ? 1 : 0))
    }

    /// The faults to detect.
    enum Fault: CaseIterable {
        case damaged, misnamed, folderName, link, temporary, journalTemporary, removed, restored, undeleted, future, edited,
            foreignID

        var kind: CheckFinding.Kind {
            switch self {
            case .damaged, .foreignID: .damagedDocument
            case .misnamed, .folderName, .link: .foreignName
            case .temporary, .journalTemporary: .temporary
            case .removed, .restored, .undeleted: .outdatedDocument
            case .future: .futureUpdateTime
            case .edited: .edited
            }
        }

        var file: String {
            switch self {
            case .misnamed: "documents/c/d%41.json"
            case .folderName: "documents/c/x.json"
            case .link: "documents/c/link.json"
            case .temporary: "documents/c/.hearth-1a.tmp"
            case .journalTemporary: "journal/.hearth-spare.tmp"
            case .undeleted: "documents/c/gone.json"
            case .future: "documents/c/new.json"
            default: "documents/c/d1.json"
            }
        }

        func make(in folder: TemporaryFolder) throws {
            let text = try folder.text(of: "data/documents/c/d1.json")
            let path = "data/" + file
            switch self {
            case .damaged: try folder.write("{\n  \"n\":", to: path)
            case .misnamed: try folder.write(text, to: path)
            case .folderName: try folder.write("x", to: path + "/file")
            case .link: try folder.link(path, to: "d1.json")
            case .temporary, .journalTemporary: try folder.write("half", to: path)
            case .removed: try folder.remove(path)
            case .undeleted: try folder.write(text, to: path)
            case .restored:
                try folder.write(text.replacing(/Time": "\d+/) { _ in "Time\": \"2001" }, to: path)
            case .future:
                try folder.write(text.replacing(/"updateTime": "\d+/) { _ in "\"updateTime\": \"2999" }, to: path)
            case .edited: try folder.write(text.replacing("\"n\": 1", with: "\"n\": 77"), to: path)
            case .foreignID:
                try folder.write(text.replacing("\"createTime\"", with: "\"id\": \"other\", \"createTime\""), to: path)
            }
        }
    }

    @Test
    func `A damaged segment is reported with its offset, and so is a missing one`() async throws {
        try await fill()
        let segments = try fixture.folder.segments(in: "data")
        try #require(segments.count > 2)
        var bytes = try fixture.folder.bytes(of: "data/journal/\(segments[0])")
        bytes[100] ^= 1
        try fixture.folder.write(bytes, to: "data/journal/\(segments[0])")
        try fixture.folder.remove("data/journal/\(segments[segments.count - 1])")
        let (_, findings) = try await check()
        #expect(
            findings.allSatisfy { $0.kind == .damagedJournal || $0.kind == .futureUpdateTime || $0.kind == .outdatedDocument }
        )
        let damage = findings.filter { $0.kind == .damagedJournal }
        #expect(damage.map(\.file.path) == ["journal/\(segments[0])", "journal"])
        #expect(damage.first?.message.contains("byte 64") == true)
    }

    @Test
    func `A journal without segments is noticed until a repair accepts it`() async throws {
        try await fill()
        for segment in try fixture.folder.segments(in: "data") { try fixture.folder.remove("data/journal/\(segment)") }
        let (report, findings) = try await check()
        #expect(findings.map(\.kind) == [.missingHistory] && findings.allSatisfy { $0.isNotice })
        #expect(report.findings == 0 && report.notices == 1)
        try fixture.folder.remove("data/journal")
        #expect(try await check().findings.map(\.kind) == [.missingHistory])
        try await FileStore.repair(fixture.folder["data"], after: report, logger: .silent)
        #expect(try await check().findings.isEmpty)
    }

    @Test
    func `A repair sets damaged segments and those before them aside, with all their records`() async throws {
        try await fill()
        let segments = try fixture.folder.segments(in: "data")
        try #require(segments.count > 2)
        let damaged = "data/journal/\(segments[1])"
        var bytes = try fixture.folder.bytes(of: damaged)
        bytes[100] ^= 1
        try fixture.folder.write(bytes, to: damaged)
        let before = try fixture.folder.contents(of: "data/journal")
        let logs = WarningLog()
        try await FileStore.repair(fixture.folder["data"], after: try await check().0, logger: logs.logger)
        #expect(logs.warnings.contains { $0["file.path"] == "journal.aside-1" })
        #expect(try await check().findings.isEmpty)
        #expect(try fixture.folder.segments(in: "data") == Array(segments.dropFirst(2)))
        let aside = try fixture.folder.contents(of: "data/journal.aside-1")
        #expect(aside == before.filter { segments.prefix(2).contains($0.key) })
    }

    @Test
    func `A repair recovers a folder that was not closed, and leaves damaged documents unchanged`() async throws {
        try await fixture.withStore { store in
            for index in 0..<5 { try await store.set("c/d\(index)", ["n": .integer(Int64(index))]) }
            try fixture.folder.copy("data", to: "crashed")
            try await store.set("c/d1", ["n": .integer(10)])
            try await store.delete("c/d2")
            try fixture.folder.remove("crashed/journal")
            try fixture.folder.copy("data/journal", to: "crashed/journal")
        }
        try fixture.folder.write("half", to: "crashed/documents/c/.hearth-1a.tmp")
        try fixture.folder.write("{", to: "crashed/documents/c/mine.json")
        let (_, findings) = try await check("crashed")
        // Documents that recovery restores are only counted.
        #expect(Set(findings.map(\.kind)) == [.notClosed, .temporary, .damagedDocument], "\(findings)")
        #expect(findings.first { $0.kind == .notClosed }?.message.contains("restores 2 documents") == true)
        try await FileStore.repair(fixture.folder["crashed"], logger: .silent)
        let (_, left) = try await check("crashed")
        #expect(left.map(\.file.path) == ["documents/c/mine.json"])
        #expect(try fixture.folder.text(of: "crashed/documents/c/mine.json") == "{")
        try fixture.folder.remove("crashed/documents/c/mine.json")
        #expect(try fixture.folder.contents(of: "crashed/documents") == (try fixture.folder.contents(of: "data/documents")))
    }

    @Test
    func `A repair removes the temporary files of a closed folder`() async throws {
        try await fill()
        try fixture.folder.write("half", to: "data/documents/c/.hearth-1a.tmp")
        try fixture.folder.write("half", to: "data/journal/.hearth-spare.tmp")
        try await FileStore.repair(fixture.folder["data"], logger: .silent)
        #expect(try await check().findings.isEmpty)
    }

    @Test
    func `Every entry that is not a document is named, without being a fault`() async throws {
        try await fill()
        for name in ["README.txt", "c/d1.json~", "c/.git/config", "c/d1/.DS_Store"] {
            try fixture.folder.write("x", to: "data/documents/" + name)
        }
        try fixture.folder.write("x", to: "data/journal/notes")
        let (report, findings) = try await check()
        #expect(findings.allSatisfy { $0.kind == .ignored && $0.isNotice }, "\(findings)")
        let files = ["README.txt", "c/d1.json~", "c/.git", "c/d1/.DS_Store"].map { "documents/" + $0 } + ["journal/notes"]
        #expect(findings.map(\.file.path).sorted() == files.sorted())
        #expect(report.findings == 0 && report.ignoredEntries == 5)
    }

    @Test
    func `A repair accepts documents that were removed, renamed or replaced by hand, and keeps their history`() async throws {
        try await fill()
        let folder = "data/documents/c/"
        let text = try fixture.folder.text(of: folder + "d3.json")
        try fixture.folder.remove(folder + "d1.json")
        try fixture.folder.copy(folder + "d2.json", to: folder + "renamed.json")
        try fixture.folder.remove(folder + "d2.json")
        try fixture.folder.write(text, to: folder + "gone.json")
        try fixture.folder.write(text.replacing(/Time": "\d+/) { _ in "Time\": \"2001" }, to: folder + "d3.json")
        let (report, findings) = try await check()
        #expect(
            Set(findings.filter { $0.kind == .outdatedDocument }.map(\.file.path))
                == Set(["d1", "d2", "d3", "gone"].map { "documents/c/\($0).json" })
        )
        try await FileStore.repair(fixture.folder["data"], after: report, logger: .silent)
        #expect(try await check().findings.isEmpty)
        try await fixture.withStore { store throws in
            #expect(try await store.fields("c/d1") == nil)
            #expect(try await store.fields("c/renamed")?["n"] == .integer(2))
            #expect(try await store.history(of: DocumentPath("c/d1"), before: nil, limit: 10).versions.count == 2)
        }
        #expect(try await check().findings.isEmpty)
        // A later loss is still found.
        try fixture.folder.remove(folder + "d5.json")
        #expect(try await check().findings.map(\.kind) == [.outdatedIndex])
    }

    @Test
    func `Without an index fault, a repair does not rebuild the index`() async throws {
        try await fill()
        let index = try fixture.folder.bytes(of: "data/index.sqlite")
        try fixture.folder.write("half", to: "data/documents/c/.hearth-1a.tmp")
        let (report, _) = try await check()
        #expect(report.findings == 1 && report.isIndexIntact)
        try await FileStore.repair(fixture.folder["data"], after: report, logger: .silent)
        #expect(try fixture.folder.bytes(of: "data/index.sqlite") == index)
        #expect(try await check().findings.isEmpty)
    }

    @Test
    func `Damage that only reading the whole index finds is left to a complete check`() async throws {
        let value = "quite a rare value"
        try await fixture.withStore { store in
            for index in 0..<20 { try await store.set("c/d\(index)", ["s": .string(index == 7 ? value : "common")]) }
            try await store.waitUntilIndexed()
        }
        let bytes = try fixture.folder.bytes(of: "data/index.sqlite")
        let pattern = Array(value.utf8)
        let offsets = bytes.indices.filter { bytes[$0...].starts(with: pattern) }
        try #require(offsets.count >= 2)
        var kinds: Set<[Bool]> = []
        for offset in offsets {
            var damaged = bytes
            damaged[offset] ^= 1
            try fixture.folder.write(damaged, to: "data/index.sqlite")
            let complete = try await check().findings
            let quick = try await fixture.check("data", depth: .documents).findings
            kinds.insert([complete.contains { $0.message.contains("--rebuild-index") }, quick.isEmpty])
        }
        #expect(kinds.contains([true, true]), "\(kinds)")
    }

    @Test(
        arguments: [
            "UPDATE documents SET content = content + 1 WHERE scope = 0 AND content = (SELECT min(id) FROM contents)",
            "UPDATE documents SET name = x'0200' WHERE scope > 0 AND content = (SELECT min(id) FROM contents)",
            "DELETE FROM documents WHERE scope > 0 AND content = (SELECT min(id) FROM contents)",
            "DELETE FROM documents WHERE content = (SELECT min(id) FROM contents)",
            "INSERT INTO documents SELECT 0, x'02780002797a00', max(content) + 1 FROM documents",
            "UPDATE contents SET bytes = bytes + 1 WHERE id = (SELECT min(id) FROM contents)",
            "UPDATE contents SET entries = zeroblob(2) WHERE id = (SELECT min(id) FROM contents)",
            "DELETE FROM contents WHERE id = (SELECT min(id) FROM contents)",
            "UPDATE entries SET isDouble = 1 - isDouble WHERE value = (SELECT min(value) FROM entries)",
            "DELETE FROM entries WHERE value = (SELECT min(value) FROM entries)",
            "UPDATE sizes SET documents = documents + 1 WHERE scope > 0",
            "INSERT INTO documents SELECT 1, x'026100', max(content) + 1 FROM documents",
            "INSERT INTO documents SELECT 55, x'026100', max(content) FROM documents",
            "INSERT INTO documents SELECT -1, x'026100', max(content) FROM documents",
        ]
    )
    func `Rows of the index that differ from the documents are found`(change: String) async throws {
        try await fill()
        let index = try DatabaseQueue(path: fixture.folder["data/index.sqlite"])
        try await index.write { try $0.execute(sql: change) }
        try index.close()
        let kinds = try await fixture.findings().map(\.kind)
        #expect(kinds == [.outdatedIndex] || kinds == [.damagedIndex], "\(kinds)")
    }

    @Test(
        arguments: [
            "DELETE FROM places", "DELETE FROM places WHERE id = (SELECT max(id) FROM places)",
            "UPDATE places SET minLatitude = minLatitude - 1 WHERE id = (SELECT max(id) FROM places)",
            "UPDATE places SET maxLongitude = maxLongitude + 1 WHERE id = (SELECT max(id) FROM places)",
            "UPDATE places SET name = x'026100' WHERE id = (SELECT max(id) FROM places)",
            "UPDATE places SET id = id + (1 << 19) WHERE id = (SELECT max(id) FROM places)",
            "UPDATE places SET minSpace = minSpace - 4, maxSpace = maxSpace - 4 WHERE id = (SELECT max(id) FROM places)",
            "INSERT INTO places SELECT max(id) + 7, minSpace, maxSpace, 1, 2, 3, 4, name FROM places",
            "UPDATE placeSpaces SET space = space + 2", "DELETE FROM placeSpaces",
        ]
    )
    func `Geo points of the index that differ from the documents are found`(change: String) async throws {
        try await fixture.withStore { store in
            for number in 0..<20 {
                let point = try GeoPoint(validatingLatitude: Double(number), longitude: Double(-number))
                try await store.set("c/d\(number)", ["place": .geoPoint(point)])
                try await store.set("c/d\(number)/c/e", ["at": .map(["place": .geoPoint(point)])])
            }
            try await store.waitUntilIndexed()
        }
        #expect(try await fixture.findings() == [])
        let index = try DatabaseQueue(path: fixture.folder["data/index.sqlite"])
        try await index.write { try $0.execute(sql: change) }
        try index.close()
        #expect(try await fixture.findings().map(\.kind) == [.damagedIndex])
    }

    @Test
    func `An index that is a folder is reported`() async throws {
        try await fill()
        try fixture.folder.remove("data/index.sqlite")
        try fixture.folder.write("keep", to: "data/index.sqlite/file")
        let (report, findings) = try await check()
        #expect(findings.map(\.kind) == [.damagedIndex])
        #expect(findings.first?.message.contains("not a regular file") == true)
        try await FileStore.repair(fixture.folder["data"], after: report, logger: .silent)
        #expect(try await check().findings.isEmpty)
        #expect(try fixture.folder.text(of: "data/index.sqlite.aside-1/file") == "keep")
    }

    @Test
    func `Documents that several threads read are counted and reported as if one did, with progress`() async throws {
        try await fixture.withStore { store throws in
            for collection in ["a", "b", "a/d1/s"] {
                _ = try await store.commit(
                    try (0..<1_000).map { try .set(DocumentPath("\(collection)/d\($0)"), ["n": .integer(Int64($0))]) }
                )
            }
        }
        let damaged = stride(from: 5, to: 1_000, by: 100).map { "documents/b/d\($0).json" }
        for file in damaged { try fixture.folder.write("{", to: "data/" + file) }
        let expected = Mutex<Set<Int?>>([])
        let counts = Mutex<[Int]>([])
        let (report, findings) = try await fixture.check("data") { progress in
            expected.withLock { _ = $0.insert(progress.expectedDocuments) }
            counts.withLock { $0.append(progress.report.documents) }
        }
        #expect(report.documents == 2_990 && report.collections == 3)
        #expect(Set(findings.map(\.file.path)) == Set(damaged) && findings.count == damaged.count)
        #expect(try await check().findings == findings)
        #expect(expected.withLock { $0 }.contains(3_000))
        #expect(counts.withLock { $0 == $0.sorted() && $0.count > 20 })
    }

    private static let long = String(repeating: "lång", count: 100)

    /// The size of the file that contains the ID of a folder with a shortened name.
    private var marker: Int {
        "{\"id\":\"\(Self.long)\"}".utf8.count
    }

    /// Creates thirteen documents in three collections, with overwritten and deleted ones.
    private func fill() async throws {
        try await fixture.withStore { store in
            for index in 0..<10 {
                try await store.set("c/d\(index)", ["n": .integer(0), "t": .string(String(repeating: "x", count: 300))])
            }
            for index in 0..<10 { try await store.set("c/d\(index)", ["n": .integer(Int64(index))]) }
            try await store.set("c/gone", [:])
            try await store.delete("c/gone")
            try await store.set("c/missing/s/a", [:])
            _ = try await store.commit([
                .set(DocumentPath("\(Self.long)/\(Self.long)"), [:]), .set(DocumentPath("c/\(Self.long)"), [:]),
            ])
        }
    }

    @discardableResult
    private func check(_ folder: String = "data") async throws -> (CheckReport, findings: [CheckFinding]) {
        try await fixture.check(folder)
    }
}
