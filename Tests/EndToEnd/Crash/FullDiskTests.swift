import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

extension CrashTests {
    @Suite(
        "Server on a small disk",
        .enabled(if: TmpfsVolume.isAvailable, "Mounting a file system requires root"),
        .timeLimit(.minutes(10))
    )
    struct FullDiskTests {
        @Test func `Rejects writes when the disk is full, still reads and deletes, and writes when there is space again`()
            async throws
        {
            try await Self.withServer(size: "24m") { test in
                var count = 0
                let failure = await #expect(throws: StatusError.self) {
                    while count < 100 {
                        try await test.set("notes/n\(count)", size: 200_000)
                        count += 1
                    }
                }
                #expect(failure?.code == .resourceExhausted)
                #expect(failure?.message.contains(test.data.path) == false)
                #expect(count > 10)
                try await test.expectNoViolations()

                try await test.delete("notes/n0", "notes/n1")
                try await test.set("notes/again", size: 200_000)
                try await test.expectNoViolations()
            }
        }

        @Test func `Deletes documents and stops cleanly when the disk is full to its last byte`() async throws {
            try await Self.withServer(size: "24m") { test in
                for number in 0..<5 { try await test.set("notes/n\(number)", size: 200_000) }
                // Uses up the space that the journal has allocated.
                await #expect(throws: StatusError.self) {
                    for number in 5..<100 { try await test.set("notes/n\(number)", size: 200_000) }
                }
                for number in 0..<5 {
                    try test.disk.fill()
                    try await test.delete("notes/n\(number)")
                }
                try test.disk.fill()
                try await test.expectNoViolations()
            }
        }

        @Test func `Rejects commits while there is no space for the journal`() async throws {
            try await Self.withServer(size: "4m") { test in
                try test.disk.fill()
                for _ in 0..<2 {
                    let failure = await #expect(throws: StatusError.self) { try await test.set("notes/n") }
                    #expect(failure?.code == .resourceExhausted)
                    #expect(failure?.message.contains(test.data.path) == false)
                }
                try await test.expectNoViolations()

                try test.disk.remount("size=32m")
                try await test.set("notes/n")
                try await test.expectNoViolations()
            }
        }

        @Test func `Starts after a crash on a full disk, serves reads, and writes when there is space again`() async throws {
            try await Self.withServer(size: "32m", ending: SIGKILL) { test in
                for number in 0..<5 { try await test.set("notes/n\(number)", size: 200_000) }
            } then: { disk, history in
                try disk.fill()
                let server = try await CrashServer(data: disk.data)
                try await server.killingOnError {
                    let recorder = CommitRecorder(history)
                    let test = TestContext(disk: disk, data: disk.data, server: server, recorder: recorder)
                    try await test.expectNoViolations()
                    // The journal has freed some space.
                    try FileManager.default.removeItem(at: disk.folder.appending(path: "ballast"))
                    try disk.fill()
                    let failure = await #expect(throws: StatusError.self) { try await test.set("notes/more", size: 200_000) }
                    #expect(failure?.code == .resourceExhausted)
                    try await test.expectNoViolations()
                }
                #expect(try await server.stop(with: SIGKILL) == .signal(SIGKILL))
                try disk.remount("size=64m")
            }
        }

        @Test func `Does not start on a read-only disk, and starts when it is writable again`() async throws {
            try await Self.withServer(size: "32m") { test in
                try await test.set("notes/n")
            } then: { disk, _ in
                try disk.remount("ro")
                let failure = await #expect(throws: CrashServer.StartFailure.self) { _ = try await CrashServer(data: disk.data) }
                #expect(failure?.status == .code(1))
                #expect(failure?.errors.contains("read-only") == true)
                try disk.remount("rw")
            }
        }
    }
}

extension TmpfsVolume {
    fileprivate var data: URL { folder.appending(path: "data") }
}

extension CrashTests.FullDiskTests {
    private struct TestContext {
        let disk: TmpfsVolume
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

        /// Expects that a check of the server finds no violations.
        func expectNoViolations(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let violations = try await recorder.history.check(server, data: data).violations
            #expect(violations == [], sourceLocation: sourceLocation)
        }
    }

    /// Calls `body` with a server on a small disk, stops the server, calls `then`, and checks the server after a restart.
    private static func withServer(
        size: String,
        ending: Int32 = SIGTERM,
        _ body: (TestContext) async throws -> Void,
        then: (TmpfsVolume, CommitHistory) async throws -> Void = { _, _ in }
    ) async throws {
        try await TmpfsVolume.with(size: size) { disk in
            let data = disk.data
            let server = try await CrashServer(data: data)
            let recorder = CommitRecorder(CommitHistory())
            try await server.killingOnError {
                try await body(TestContext(disk: disk, data: data, server: server, recorder: recorder))
            }
            #expect(try await server.stop(with: ending) == (ending == SIGTERM ? .code(0) : .signal(ending)))
            try await then(disk, recorder.history)
            let violations = try await CrashScenario.State(data: data, history: recorder.history).violationsAfterRestart()
            #expect(violations == [])
        }
    }
}
