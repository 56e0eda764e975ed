import DocumentModel
import FileStore
import Foundation
import StorageIO
import TestSupport
import Testing

@Suite("Locked atomic file")
struct LockedAtomicFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open() async throws -> LockedAtomicFile {
        try await LockedAtomicFile.open(.keys, inFolder: folder["data"], creatingFolder: true)
    }

    @Test
    func `The file doesn't exist at first, and every update changes its version`() async throws {
        let file = try await open()
        #expect(try await file.snapshot().bytes == nil)
        #expect(try await file.version() == nil)
        let first = try await file.update { $0 == nil ? [1] : nil }
        #expect(first.bytes == [1])
        let second = try await file.update { ($0 ?? []) + [2] }
        #expect(second.bytes == [1, 2])
        #expect(second.version != first.version)
        #expect(second.number > first.number)
        #expect(try await file.version() == second.version)
        #expect(try await file.update { _ in nil }.version == second.version)
        #expect(try await open().snapshot().bytes == [1, 2])
    }

    @Test
    func `A failed update leaves the file unchanged, and the next update succeeds`() async throws {
        let file = try await open()
        _ = try await file.update { _ in [1] }
        await #expect(throws: StatusError.self) {
            try await file.update { _ throws(StatusError) in throw StatusError(.internal, "no") }
        }
        #expect(try await file.update { ($0 ?? []) + [2] }.bytes == [1, 2])
    }

    @Test
    func `Leftovers of a crash are harmless`() async throws {
        try folder.write("half", to: "data/.hearth-keys.json.tmp")
        let file = try await open()
        #expect(try await file.snapshot().bytes == nil)
        #expect(try await file.update { _ in [1] }.bytes == [1])
        #expect(try folder.names(in: "data") == ["keys.json", "keys.json.lock"])
    }

    @Test
    func `A symbolic link in its place is rejected, and its target unchanged`() async throws {
        try folder.write("mine", to: "thesis")
        try folder.write("x", to: "data/hearth.lock")
        try folder.link("data/keys.json", to: folder["thesis"])
        let file = try await open()
        await #expect(throws: StatusError.self) { try await file.snapshot() }
        #expect(try folder.text(of: "thesis") == "mine")
    }
}
