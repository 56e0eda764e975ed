import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Checks of a data folder")
struct CheckTests {
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
        let segments = try fixture.folder.names(in: "data/journal")
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
        #expect(
            Set(findings.map(\.kind)) == [.notClosed, .outdatedDocument, .temporary, .damagedDocument]
        )
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
