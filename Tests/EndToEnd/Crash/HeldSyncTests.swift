import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing

extension CrashTests {
    @Suite("A read is never behind a sync", .timeLimit(.minutes(2)))
    struct HeldSyncTests {
        @Test(arguments: Read.allCases) func `is answered while a commit waits for the disk`(read: Read) async throws {
            try await withTemporaryFolder { folder in
                let (gate, log) = (folder.appending(path: "gate"), folder.appending(path: "calls"))
                let faults = FaultPlan(fault: .hold("fdatasync@journal/"), log: log, gate: gate)
                let server = try await CrashServer(data: folder.appending(path: "data"), plan: faults)
                let recorder = CommitRecorder(CommitHistory())
                let plan: @Sendable (Int) -> [PlannedWrite] = { [path = try DocumentPath("notes/a")] number in
                    [PlannedWrite(path: path, fields: .sample(number: number))]
                }
                try await server.attended {
                    let time = try await recorder.commit(on: server, plan)
                    try Data().write(to: gate)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { try await recorder.commit(on: server, plan) }
                        // The sync is noted when it is held.
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

        /// What is read.
        enum Read: CaseIterable {
            case document, list, history, query, documentAtTime, listAtTime, queryAtTime

            /// Reads, where at a time, at one behind the last commit.
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
