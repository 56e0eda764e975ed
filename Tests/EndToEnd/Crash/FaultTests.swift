import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

extension CrashTests {
    @Suite("Temporary disk faults", .timeLimit(.minutes(10)))
    struct FaultTests {
        @Test(
            arguments: ["open@documents/", "pwrite@documents/", "mkdir@documents/", "pwrite@journal/", "any"],
            ["ENOSPC", "EDQUOT"]
        )
        func `Commits fail while the disk is full and succeed when there is space again`(
            calls: String,
            error: String
        ) async throws {
            try await Self.withServer(.failing(calls, with: error)) { test in
                try await test.commit("notes/before", "notes/other")
                try test.setFault(true)
                for _ in 0..<2 {
                    let failure = await #expect(throws: StatusError.self) { try await test.commit("notes/before", "new/during") }
                    #expect(failure?.code == .resourceExhausted)
                    #expect(failure?.message.contains(test.data.path) == false)
                }
                try await test.expectNoViolations(disk: false)
                try test.setFault(false)
                try await test.commit("notes/before", "new/after")
                try await test.expectNoViolations()
            }
        }

        @Test func `Commits fail while the disk is read-only and succeed when it is writable again`() async throws {
            try await Self.withServer(.failing("any", with: "EROFS")) { test in
                try await test.commit("notes/before")
                try test.setFault(true)
                let failure = await #expect(throws: StatusError.self) { try await test.commit("notes/before", "new/during") }
                #expect(failure?.code == .unavailable)
                #expect(failure?.message.contains("read-only") == true)
                try await test.expectNoViolations(disk: false)
                try test.setFault(false)
                try await test.commit("notes/before", "new/after")
                try await test.expectNoViolations()
            }
        }

        @Test(arguments: ["EIO", "ENOSPC"])
        func `A failed sync blocks writes until a restart, which recovers all commits`(
            error: String
        ) async throws {
            try await Self.withServer(.fail("fdatasync", with: error), end: .code(1)) { test in
                try await test.commit("notes/before")
                try test.setFault(true)
                let failure = await #expect(throws: StatusError.self) { try await test.commit("notes/before", "notes/during") }
                // The outcome is unknown, so the error must not claim that the commit was rejected.
                #expect(failure?.code == .unavailable)
                try test.setFault(false)
                for _ in 0..<2 {
                    let failure = await #expect(throws: StatusError.self) { try await test.commit("notes/after") }
                    #expect(failure?.code == .unavailable)
                    #expect(failure?.message.contains("must be restarted") == true)
                }
                try await test.expectNoViolations()
            }
        }

        @Test(arguments: ["EIO", "ENOSPC"]) func `A durable commit whose file cannot be replaced is preserved`(
            error: String
        ) async throws {
            try await Self.withServer(.failing("rename@documents/", with: error)) { test in
                try await test.commit("notes/before", "notes/other")
                try test.setFault(true)
                try await test.commit("notes/before", "notes/new", "new/first")
                try await test.expectNoViolations(disk: false)
                let failure = await #expect(throws: StatusError.self) { try await test.commit("notes/other") }
                #expect(failure?.code == (error == "EIO" ? .unavailable : .resourceExhausted))
                try test.setFault(false)
                try await test.commit("notes/other")
                try await test.expectNoViolations()
            }
        }

        @Test func `A durable deletion whose file cannot be removed is preserved`() async throws {
            try await Self.withServer(.failing("unlink@documents/", with: "EIO")) { test in
                try await test.commit("notes/before", "notes/other")
                try test.setFault(true)
                try await test.delete("notes/before")
                try await test.expectNoViolations(disk: false)
                try test.setFault(false)
                try await test.commit("notes/other")
                try await test.expectNoViolations()
            }
        }

        @Test func `A temporary file that cannot be removed does not prevent start or shutdown, and is removed later`()
            async throws
        {
            try await withTemporaryFolder { folder in
                let data = folder.appending(path: "data")
                var history = CommitHistory()
                for number in 1...2 {
                    let plan = FaultPlan(fault: .failing("unlink@documents/", with: "EIO"))
                    let server = try await CrashServer(data: data, plan: plan)
                    let recorder = CommitRecorder(history)
                    // The first new document creates a temporary file to test the file name.
                    let path = try DocumentPath("notes/n\(number)")
                    try await recorder.commit(on: server) { [PlannedWrite(path: path, fields: .sample(number: $0))] }
                    history = recorder.history
                    #expect(try await server.stop(with: SIGTERM) == .code(0))
                    #expect(try DataFolderContents(of: data).temporaries.count == number)
                }
                let violations = try await CrashScenario.State(data: data, history: history).violationsAfterRestart()
                #expect(violations == [])
            }
        }

        @Test(arguments: ["ENOSPC", "EIO"]) func `Commits succeed while the index cannot be written, and are indexed afterward`(
            error: String
        ) async throws {
            try await Self.withServer(.failing("pwrite@index.sqlite", with: error)) { test in
                try await test.commit("notes/before", "notes/other")
                try test.setFault(true)
                // Longer than the batching delay of the index.
                for number in 0..<5 {
                    try await test.commit("notes/before", "new/n\(number)")
                    try await Task.sleep(for: .milliseconds(100))
                }
                try await test.delete("notes/other")
                try await test.expectNoViolations()
                try test.setFault(false)
                try await test.commit("notes/after")
                try await test.expectNoViolations()
            }
        }

        @Test func `A failed read reports the document and succeeds later`() async throws {
            try await Self.withServer(.failing("pread@documents/", with: "EIO"), isWarm: false) { test in
                try test.setFault(true)
                let path = try DocumentPath("notes/old")
                let failure = await #expect(throws: StatusError.self) { try await test.server.connection.document(at: path) }
                #expect(failure?.code == .unavailable)
                #expect(failure?.path == "notes/old")
                #expect(failure?.message.contains(test.data.path) == false)
                try test.setFault(false)
                try await test.expectNoViolations()
            }
        }

        @Test(arguments: [
            "pread@journal/", "pread@documents/", "syncfs", "unlink@journal/", "rename", "fsync", "ftruncate@journal/",
        ])
        func `A failed recovery prevents the start and changes nothing`(calls: String) async throws {
            try await withTemporaryFolder { folder in
                let state = try await CrashScenario.recovered.prepare(in: folder)
                let before = try Self.contents(of: state.data)
                let plan = FaultPlan(fault: .failing(calls, with: "EIO"))
                let outcome = try await CrashScenario.recovered.run(state, plan: plan)
                let failure = try #require(outcome.failedStart)
                #expect(failure.status == .code(1))
                #expect(failure.errors.contains("hearth: "))
                let after = try Self.contents(of: state.data)
                #expect(Set(after.keys) == Set(before.keys))
                for (file, bytes) in before { #expect(after[file] == bytes, "\(file) has changed") }
                let violations = try await outcome.state.violationsAfterRestart()
                #expect(violations == [])
            }
        }

        /// Returns the contents of the files in a data folder without trailing zeros, excluding the lock, temporary files and the index.
        private static func contents(of data: URL) throws -> [String: Data] {
            var contents: [String: Data] = [:]
            for file in try FileManager.default.subpathsOfDirectory(atPath: data.path) {
                let isExcluded = file == "hearth.lock" || file.hasSuffix(".tmp") || file.hasPrefix("index.sqlite")
                guard !isExcluded, let bytes = FileManager.default.contents(atPath: data.appending(path: file).path) else {
                    continue
                }
                contents[file] = bytes.prefix(bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0)
            }
            return contents
        }
    }
}

extension CrashTests.FaultTests {
    /// A server on a folder with one document, with a switch for the fault.
    struct TestContext: Sendable {
        let data: URL
        let server: CrashServer
        let recorder: CommitRecorder
        fileprivate let gate: URL

        /// Enables or disables the fault.
        func setFault(_ isOn: Bool) throws {
            if isOn { try Data().write(to: gate) } else { try FileManager.default.removeItem(at: gate) }
        }

        /// Sets documents in one commit.
        func commit(_ paths: String...) async throws {
            let paths = try paths.map { try DocumentPath($0) }
            try await recorder.commit(on: server) { number in
                paths.map { PlannedWrite(path: $0, fields: .sample(number: number)) }
            }
        }

        func delete(_ path: String) async throws {
            let path = try DocumentPath(path)
            try await recorder.commit(on: server) { _ in [PlannedWrite(path: path, fields: nil)] }
        }

        /// Expects that a check of the server finds no violations.
        func expectNoViolations(disk: Bool = true, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let violations = try await recorder.history.check(server, data: data, disk: disk).violations
            #expect(violations == [], sourceLocation: sourceLocation)
        }
    }

    /// Calls `body` with a server whose fault is initially disabled, then stops the server and checks it after a restart.
    ///
    /// - Parameters:
    ///   - isWarm: Whether the first document is in the cache of the server.
    ///   - end: The expected exit status of the server.
    private static func withServer(
        _ fault: Fault,
        isWarm: Bool = true,
        end: ServerProcess.ExitStatus = .code(0),
        _ body: (TestContext) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appending(path: "data")
            let gate = folder.appending(path: "fault")
            var history = CommitHistory()
            func start() async throws -> TestContext {
                let server = try await CrashServer(data: data, plan: FaultPlan(fault: fault, gate: gate))
                return TestContext(data: data, server: server, recorder: CommitRecorder(history), gate: gate)
            }
            var test = try await start()
            try await test.commit("notes/old")
            if !isWarm {
                // A server that starts reads the first document of the first collection.
                try await test.commit("notes/first")
                history = test.recorder.history
                #expect(try await test.server.stop(with: SIGTERM) == .code(0))
                test = try await start()
            }
            try await test.server.killingOnError { try await body(test) }
            #expect(try await test.server.stop(with: SIGTERM) == end)
            let state = CrashScenario.State(data: data, history: test.recorder.history)
            let violations = try await state.violationsAfterRestart()
            #expect(violations == [])
        }
    }
}
