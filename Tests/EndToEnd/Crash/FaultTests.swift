import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

extension CrashTests {
    @Suite("A server whose disk fails for a while", .timeLimit(.minutes(5)))
    struct FaultTests {
        @Test(
            arguments: ["open@documents/", "pwrite@documents/", "mkdir@documents/", "pwrite@journal/", "any"],
            ["ENOSPC", "EDQUOT"]
        )
        func `refuses commits while there is no space, and takes them as soon as there is`(
            calls: String,
            error: String
        ) async throws {
            try await Self.withServer(.failing(calls, with: error)) { test in
                try await test.commit("notes/before", "notes/other")
                try test.setFault(true)
                for _ in 0..<2 {
                    let refusal = await #expect(throws: StatusError.self) { try await test.commit("notes/before", "new/during") }
                    #expect(refusal?.code == .resourceExhausted)
                    #expect(refusal?.message.contains(test.data.path) == false)
                }
                try await test.expectWell(disk: false)
                try test.setFault(false)
                try await test.commit("notes/before", "new/after")
                try await test.expectWell()
            }
        }

        @Test func `refuses commits while the disk is read-only, and takes them when it is writable`() async throws {
            try await Self.withServer(.failing("any", with: "EROFS")) { test in
                try await test.commit("notes/before")
                try test.setFault(true)
                let refusal = await #expect(throws: StatusError.self) { try await test.commit("notes/before", "new/during") }
                #expect(refusal?.code == .unavailable)
                #expect(refusal?.message.contains("read-only") == true)
                try await test.expectWell(disk: false)
                try test.setFault(false)
                try await test.commit("notes/before", "new/after")
                try await test.expectWell()
            }
        }

        @Test(arguments: ["EIO", "ENOSPC"])
        func `takes no more commits once a sync has failed, says so, and has everything after a new start`(
            error: String
        ) async throws {
            try await Self.withServer(.fail("fdatasync", with: error), end: .code(1)) { test in
                try await test.commit("notes/before")
                try test.setFault(true)
                let failure = await #expect(throws: StatusError.self) { try await test.commit("notes/before", "notes/during") }
                // Nobody knows whether it counts, so it must not be reported as refused.
                #expect(failure?.code == .unavailable)
                try test.setFault(false)
                for _ in 0..<2 {
                    let refusal = await #expect(throws: StatusError.self) { try await test.commit("notes/after") }
                    #expect(refusal?.code == .unavailable)
                    #expect(refusal?.message.contains("started again") == true)
                }
                try await test.expectWell()
            }
        }

        @Test(arguments: ["EIO", "ENOSPC"]) func `keeps a durable commit whose file can't be replaced`(error: String) async throws
        {
            try await Self.withServer(.failing("rename@documents/", with: error)) { test in
                try await test.commit("notes/before", "notes/other")
                try test.setFault(true)
                try await test.commit("notes/before", "notes/new", "new/first")
                try await test.expectWell(disk: false)
                let refusal = await #expect(throws: StatusError.self) { try await test.commit("notes/other") }
                #expect(refusal?.code == (error == "EIO" ? .unavailable : .resourceExhausted))
                try test.setFault(false)
                try await test.commit("notes/other")
                try await test.expectWell()
            }
        }

        @Test func `keeps a durable deletion whose file can't be removed`() async throws {
            try await Self.withServer(.failing("unlink@documents/", with: "EIO")) { test in
                try await test.commit("notes/before", "notes/other")
                try test.setFault(true)
                try await test.delete("notes/before")
                try await test.expectWell(disk: false)
                try test.setFault(false)
                try await test.commit("notes/other")
                try await test.expectWell()
            }
        }

        @Test func `starts and stops while an unfinished file can't be removed, and removes it when it can be`() async throws {
            try await withTemporaryFolder { folder in
                let data = folder.appending(path: "data")
                var history = CommitHistory()
                for number in 1...2 {
                    let plan = FaultPlan(fault: .failing("unlink@documents/", with: "EIO"))
                    let server = try await CrashServer(data: data, plan: plan)
                    let recorder = CommitRecorder(history)
                    // The first new document makes a file of which only the name is tried.
                    let path = try DocumentPath("notes/n\(number)")
                    try await recorder.commit(on: server) { [PlannedWrite(path: path, fields: .sample(number: $0))] }
                    history = recorder.history
                    #expect(try await server.stop(with: SIGTERM) == .code(0))
                    #expect(try DiskContents(of: data).temporaries.count == number)
                }
                let violations = try await CrashScenario.State(data: data, history: history).violationsAfterRestart()
                #expect(violations == [])
            }
        }

        @Test(arguments: ["ENOSPC", "EIO"]) func `takes commits while the index can't be written, and has them in it afterwards`(
            error: String
        ) async throws {
            try await Self.withServer(.failing("pwrite@index.sqlite", with: error)) { test in
                try await test.commit("notes/before", "notes/other")
                try test.setFault(true)
                // Longer than the index waits for more.
                for number in 0..<5 {
                    try await test.commit("notes/before", "new/n\(number)")
                    try await Task.sleep(for: .milliseconds(100))
                }
                try await test.delete("notes/other")
                try await test.expectWell()
                try test.setFault(false)
                try await test.commit("notes/after")
                try await test.expectWell()
            }
        }

        @Test func `says which document can't be read, and reads it when it can`() async throws {
            try await Self.withServer(.failing("pread@documents/", with: "EIO"), isWarm: false) { test in
                try test.setFault(true)
                let path = try DocumentPath("notes/old")
                let failure = await #expect(throws: StatusError.self) { try await test.server.connection.document(at: path) }
                #expect(failure?.code == .unavailable)
                #expect(failure?.path == "notes/old")
                #expect(failure?.message.contains(test.data.path) == false)
                try test.setFault(false)
                try await test.expectWell()
            }
        }

        @Test(arguments: [
            "pread@journal/", "pread@documents/", "syncfs", "unlink@journal/", "rename", "fsync", "ftruncate@journal/",
        ])
        func `does not start, and changes nothing, while recovery fails`(calls: String) async throws {
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

        /// What is in the files of a data folder, zeros at the ends left out; but for the lock, unfinished files and the index.
        private static func contents(of data: URL) throws -> [String: Data] {
            var contents: [String: Data] = [:]
            for file in try FileManager.default.subpathsOfDirectory(atPath: data.path) {
                let isLeftOut = file == "hearth.lock" || file.hasSuffix(".tmp") || file.hasPrefix("index.sqlite")
                guard !isLeftOut, let bytes = FileManager.default.contents(atPath: data.appending(path: file).path) else {
                    continue
                }
                contents[file] = bytes.prefix(bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0)
            }
            return contents
        }
    }
}

extension CrashTests.FaultTests {
    /// A server over a folder with one document, and a switch for the fault.
    struct Running: Sendable {
        let data: URL
        let server: CrashServer
        let recorder: CommitRecorder
        fileprivate let gate: URL

        /// Turns the fault on or off.
        func setFault(_ isOn: Bool) throws {
            if isOn { try Data().write(to: gate) } else { try FileManager.default.removeItem(at: gate) }
        }

        /// Sets documents, all in one commit.
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

        /// Checks what the server shows.
        func expectWell(disk: Bool = true, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let violations = try await recorder.history.check(server, data: data, disk: disk).violations
            #expect(violations == [], sourceLocation: sourceLocation)
        }
    }

    /// Runs `body` with a server whose fault is off at first, then ends the server and checks everything after a new start.
    ///
    /// - Parameters:
    ///   - isWarm: Whether the server itself has written the first document, and so knows it.
    ///   - end: How the server must end.
    private static func withServer(
        _ fault: Fault,
        isWarm: Bool = true,
        end: ServerProcess.ExitStatus = .code(0),
        _ body: (Running) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appending(path: "data")
            let gate = folder.appending(path: "fault")
            var history = CommitHistory()
            func start() async throws -> Running {
                let server = try await CrashServer(data: data, plan: FaultPlan(fault: fault, gate: gate))
                return Running(data: data, server: server, recorder: CommitRecorder(history), gate: gate)
            }
            var test = try await start()
            try await test.commit("notes/old")
            if !isWarm {
                history = test.recorder.history
                #expect(try await test.server.stop(with: SIGTERM) == .code(0))
                test = try await start()
            }
            try await test.server.attended { try await body(test) }
            #expect(try await test.server.stop(with: SIGTERM) == end)
            let state = CrashScenario.State(data: data, history: test.recorder.history)
            let violations = try await state.violationsAfterRestart()
            #expect(violations == [])
        }
    }
}
