import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

extension CrashTests {
    @Suite(
        "A server on a small disk",
        .enabled(if: SmallDisk.isAvailable, "Mounting a file system takes root"),
        .timeLimit(.minutes(5))
    )
    struct FullDiskTests {
        @Test func `refuses what no longer fits, deletes and reads on, and writes when there is space again`() async throws {
            try await Self.withServer(size: "24m") { test in
                var count = 0
                let refusal = await #expect(throws: StatusError.self) {
                    while count < 100 {
                        try await test.set("notes/n\(count)", size: 200_000)
                        count += 1
                    }
                }
                #expect(refusal?.code == .resourceExhausted)
                #expect(refusal?.message.contains(test.data.path) == false)
                #expect(count > 10)
                try await test.expectWell()

                try await test.delete("notes/n0", "notes/n1")
                try await test.set("notes/again", size: 200_000)
                try await test.expectWell()
            }
        }

        @Test func `refuses commits while there is no room for its journal, and takes them when there is`() async throws {
            try await Self.withServer(size: "4m") { test in
                try test.disk.fill()
                for _ in 0..<2 {
                    let refusal = await #expect(throws: StatusError.self) { try await test.set("notes/n") }
                    #expect(refusal?.code == .resourceExhausted)
                    #expect(refusal?.message.contains(test.data.path) == false)
                }
                try await test.expectWell()

                try test.disk.remount("size=32m")
                try await test.set("notes/n")
                try await test.expectWell()
            }
        }

        @Test func `starts after a crash on a disk without any room, is read, and writes when there is room`() async throws {
            try await Self.withServer(size: "32m", ending: SIGKILL) { test in
                for number in 0..<5 { try await test.set("notes/n\(number)", size: 200_000) }
            } then: { disk, history in
                try disk.fill()
                let server = try await CrashServer(data: disk.data)
                try await server.attended {
                    let recorder = CommitRecorder(history)
                    let test = Running(disk: disk, data: disk.data, server: server, recorder: recorder)
                    try await test.expectWell()
                    // Its journal has given some back.
                    try FileManager.default.removeItem(at: disk.folder.appending(path: "ballast"))
                    try disk.fill()
                    let refusal = await #expect(throws: StatusError.self) { try await test.set("notes/more", size: 200_000) }
                    #expect(refusal?.code == .resourceExhausted)
                    try await test.expectWell()
                }
                #expect(try await server.stop(with: SIGKILL) == .signal(SIGKILL))
                try disk.remount("size=64m")
            }
        }

        @Test func `does not start on a read-only disk, says why, and starts with everything when it is writable`() async throws {
            try await Self.withServer(size: "32m") { test in
                try await test.set("notes/n")
            } then: { disk, _ in
                try disk.remount("ro")
                let failure = await #expect(throws: CrashServer.DidNotStart.self) { _ = try await CrashServer(data: disk.data) }
                #expect(failure?.status == .code(1))
                #expect(failure?.errors.contains("read-only") == true)
                try disk.remount("rw")
            }
        }
    }
}

extension SmallDisk {
    fileprivate var data: URL { folder.appending(path: "data") }
}

extension CrashTests.FullDiskTests {
    private struct Running {
        let disk: SmallDisk
        let data: URL
        let server: CrashServer
        let recorder: CommitRecorder

        func set(_ path: String, size: Int = 20) async throws {
            let path = try DocumentPath(path)
            try await recorder.commit(on: server) { [PlannedWrite(path: path, fields: .sample(number: $0, size: size))] }
        }

        func delete(_ paths: String...) async throws {
            let paths = try paths.map { try DocumentPath($0) }
            try await recorder.commit(on: server) { _ in paths.map { PlannedWrite(path: $0, fields: nil) } }
        }

        /// Checks what the server shows.
        func expectWell(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let violations = try await recorder.history.check(server, data: data).violations
            #expect(violations == [], sourceLocation: sourceLocation)
        }
    }

    /// Runs `body` with a server on a small disk and ends it, runs `then`, and checks everything after a new start.
    private static func withServer(
        size: String,
        ending: Int32 = SIGTERM,
        _ body: (Running) async throws -> Void,
        then: (SmallDisk, CommitHistory) async throws -> Void = { _, _ in }
    ) async throws {
        try await SmallDisk.with(size: size) { disk in
            let data = disk.data
            let server = try await CrashServer(data: data)
            let recorder = CommitRecorder(CommitHistory())
            try await server.attended {
                try await body(Running(disk: disk, data: data, server: server, recorder: recorder))
            }
            #expect(try await server.stop(with: ending) == (ending == SIGTERM ? .code(0) : .signal(ending)))
            try await then(disk, recorder.history)
            let violations = try await CrashScenario.State(data: data, history: recorder.history).violationsAfterRestart()
            #expect(violations == [])
        }
    }
}
