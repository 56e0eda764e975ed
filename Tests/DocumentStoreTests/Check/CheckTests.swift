import DocumentModel
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import DocumentStore

@Suite("A check reads everything and names every difference")
struct CheckTests {
    private let fixture: StoreFixture

    init() throws {
        var fixture = try StoreFixture()
        fixture.configuration.segmentBytes = 4 << 10
        self.fixture = fixture
    }

    @Test("A closed folder is clean, counted and unchanged")
    func clean() async throws {
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

    @Test("A folder that a server has open is refused, and a folder that is none")
    func refused() async throws {
        try await fixture.withStore { store in
            let error = await expectStatus(.failedPrecondition) { try await check() }
            #expect(error?.message.contains("in use") == true)
        }
        try fixture.folder.write("x", to: "other/file")
        await expectStatus(.failedPrecondition) { try await check("other") }
        await expectStatus(.notFound) { try await check("nothing") }
        #expect(try fixture.folder.names(in: "other") == ["file"])
    }

    @Test("What is wrong with a document's file is named with its place", arguments: Fault.allCases)
    func fault(fault: Fault) async throws {
        try await fill()
        // What the index has to say of it is of no concern here.
        try fixture.folder.remove("data/index.sqlite")
        try fault.make(in: fixture.folder)
        let (report, findings) = try await check()
        #expect(findings.map(\.kind) == [fault.kind], "\(findings)")
        #expect(findings.first?.file.path == fault.file)
        #expect(report.findings == (fault == .edited ? 0 : 1))
        #expect(report.notices == (fault == .edited ? 1 : 0))
    }

    /// What may be wrong.
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
            let place = "data/" + file
            switch self {
            case .damaged: try folder.write("{\n  \"n\":", to: place)
            case .misnamed: try folder.write(text, to: place)
            case .folderName: try folder.write("x", to: place + "/file")
            case .link: try folder.link(place, to: "d1.json")
            case .temporary, .journalTemporary: try folder.write("half", to: place)
            case .removed: try folder.remove(place)
            case .undeleted: try folder.write(text, to: place)
            case .restored:
                try folder.write(text.replacing(/Time": "\d+/) { _ in "Time\": \"2001" }, to: place)
            case .future:
                try folder.write(text.replacing(/"updateTime": "\d+/) { _ in "\"updateTime\": \"2999" }, to: place)
            case .edited: try folder.write(text.replacing("\"n\": 1", with: "\"n\": 77"), to: place)
            case .foreignID:
                try folder.write(text.replacing("\"createTime\"", with: "\"id\": \"other\", \"createTime\""), to: place)
            }
        }
    }

    @Test("A damaged journal is named with the byte, and a segment that is missing")
    func journal() async throws {
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

    @Test("A folder that was not closed is repaired; damaged documents stay as they are")
    func repair() async throws {
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

    @Test("Temporary files of a closed folder are removed by a repair")
    func sweep() async throws {
        try await fill()
        try fixture.folder.write("half", to: "data/documents/c/.hearth-1a.tmp")
        try fixture.folder.write("half", to: "data/journal/.hearth-spare.tmp")
        try await FileStore.repair(fixture.folder["data"], logger: .silent)
        #expect(try await check().findings.isEmpty)
    }

    private static let long = String(repeating: "lång", count: 100)

    /// The bytes of the file that keeps the ID of a folder whose name is shortened.
    private var marker: Int {
        "{\"id\":\"\(Self.long)\"}".utf8.count
    }

    /// A folder with thirteen documents in three collections, overwritten and deleted.
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
