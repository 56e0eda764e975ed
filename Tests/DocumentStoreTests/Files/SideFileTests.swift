import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing

/// A small file that several processes change.
@Suite("A file beside the documents")
struct SideFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open() async throws -> SideFile {
        try await SideFile.open(.keys, inFolder: folder["data"], makingFolder: true)
    }

    @Test("It is not there at first, and then what was written, in another version each time")
    func replacing() async throws {
        let file = try await open()
        #expect(try await file.reading().bytes == nil)
        #expect(try await file.version() == nil)
        let first = try await file.replace { $0 == nil ? [1] : nil }
        #expect(first.bytes == [1])
        let second = try await file.replace { ($0 ?? []) + [2] }
        #expect(second.bytes == [1, 2])
        #expect(second.version != first.version)
        #expect(second.number > first.number)
        #expect(try await file.version() == second.version)
        #expect(try await file.replace { _ in nil }.version == second.version)
        #expect(try await open().reading().bytes == [1, 2])
    }

    @Test("A change that fails leaves it as it was, and the next one works")
    func failure() async throws {
        let file = try await open()
        _ = try await file.replace { _ in [1] }
        await #expect(throws: StatusError.self) {
            try await file.replace { _ throws(StatusError) in throw StatusError(.internal, "no") }
        }
        #expect(try await file.replace { ($0 ?? []) + [2] }.bytes == [1, 2])
    }

    @Test("What a crash left of a change is of no harm")
    func leftovers() async throws {
        try folder.write("half", to: "data/.hearth-keys.json.tmp")
        let file = try await open()
        #expect(try await file.reading().bytes == nil)
        #expect(try await file.replace { _ in [1] }.bytes == [1])
        #expect(try folder.names(in: "data") == ["keys.json", "keys.json.lock"])
    }

    @Test("A symbolic link in its place is refused, and what it points to left alone")
    func link() async throws {
        try folder.write("mine", to: "thesis")
        try folder.write("x", to: "data/hearth.lock")
        try folder.link("data/keys.json", to: folder["thesis"])
        let file = try await open()
        await #expect(throws: StatusError.self) { try await file.reading() }
        #expect(try folder.text(of: "thesis") == "mine")
    }
}
