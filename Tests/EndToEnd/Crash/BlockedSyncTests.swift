import DocumentModel
import Foundation
import HearthClient
import HearthWire
import StrictJSON
import TestSupport
import Testing
import UTF8Text

extension CrashTests {
    @Suite("Reads during a blocked sync", .timeLimit(.minutes(10)))
    struct BlockedSyncTests {
        @Test(arguments: Read.allCases) func `Reads do not wait for the sync of a commit`(read: Read) async throws {
            try await withTemporaryFolder { folder in
                let (gate, log) = (folder.appending(path: "gate"), folder.appending(path: "calls"))
                let plan = FaultPlan(fault: .hold("fdatasync@journal/"), log: log, gate: gate)
                let server = try await CrashServer(data: folder.appending(path: "data"), plan: plan)
                let recorder = CommitRecorder(CommitHistory())
                let writes: @Sendable (Int) -> [PlannedWrite] = { [path = try DocumentPath("notes/a")] number in
                    [PlannedWrite(path: path, fields: .sample(number: number))]
                }
                try await server.killingOnError {
                    let time = try await recorder.commit(on: server, writes)
                    try Data().write(to: gate)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { try await recorder.commit(on: server, writes) }
                        // The shim logs the sync before it blocks.
                        while (try? Data(contentsOf: log))?.isEmpty ?? true { try await Task.sleep(for: .milliseconds(5)) }
                        try await read.run(on: server, after: time)
                        #expect(recorder.history.acknowledgedCount == 1)
                        try FileManager.default.removeItem(at: gate)
                        try await group.waitForAll()
                    }
                    #expect(recorder.history.acknowledgedCount == 2)
                }
                #expect(try await server.stop(with: SIGTERM) == .code(0))
            }
        }

        @Test func `A commit that waits for a disk which does not answer is refused in time, and not made`() async throws {
            try await withTemporaryFolder { folder in
                let (gate, log) = (folder.appending(path: "gate"), folder.appending(path: "calls"))
                let plan = FaultPlan(fault: .hold("fdatasync@journal/"), log: log, gate: gate)
                let server = try await CrashServer(data: folder.appending(path: "data"), plan: plan)
                try await server.killingOnError {
                    let (held, late) = (try DocumentPath("notes/held"), try DocumentPath("notes/late"))
                    try Data().write(to: gate)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { _ = try await server.connection.set(held, [:]) }
                        while (try? Data(contentsOf: log))?.isEmpty ?? true { try await Task.sleep(for: .milliseconds(5)) }
                        let error = await #expect(throws: StatusError.self) {
                            _ = try await server.connection.set(late, [:])
                        }
                        #expect(error?.code == .unavailable && error?.isExecuted == false, "\(error as Any)")
                        try FileManager.default.removeItem(at: gate)
                        try await group.waitForAll()
                    }
                    let list = try await server.connection.call("documents.list") { $0.member("collection", "notes") }
                    let paths = list["documents"]?.elements.map(Array.init)?.compactMap { $0["path"]?.string }
                    #expect(paths == ["notes/held"])
                }
                #expect(try await server.stop(with: SIGTERM) == .code(0))
            }
        }

        /// The kinds of reads.
        enum Read: CaseIterable {
            case document, list, history, query, documentAtTime, listAtTime, queryAtTime

            /// Performs the read; point-in-time reads use a time after the last commit.
            func run(on server: CrashServer, after time: Timestamp) async throws {
                let later = try Timestamp(microseconds: time.microseconds + 1)
                _ = try await server.connection.call(method) { params in
                    switch self {
                    case .document, .documentAtTime, .history:
                        params.key("path")
                        params.string("notes/a")
                    case .list, .listAtTime, .query, .queryAtTime:
                        params.key("collection")
                        params.string("notes")
                    }
                    switch self {
                    case .documentAtTime, .listAtTime, .queryAtTime:
                        params.key("readTime")
                        params.string(later.rfc3339)
                    case .document, .list, .history, .query:
                        break
                    }
                }
            }

            private var method: UTF8Key {
                switch self {
                case .document, .documentAtTime: "documents.get"
                case .list, .listAtTime: "documents.list"
                case .history: "documents.history"
                case .query, .queryAtTime: "query.run"
                }
            }
        }
    }
}
