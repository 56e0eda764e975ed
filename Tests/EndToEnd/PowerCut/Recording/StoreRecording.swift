import DocumentModel
import DocumentStore
import FileStore
import Foundation
import Logging
import Testing

/// A program that performs one run of the scenario on a store with tiny journal segments, so that a short run fills segments,
/// performs checkpoints and removes old segments. It is this test executable, started as a child process.
private enum StoreProgram {
    static let dataKey = "HEARTH_POWERCUT_DATA"
    static let runKey = "HEARTH_POWERCUT_RUN"
    static let resultsKey = "HEARTH_POWERCUT_RESULTS"

    static func value(_ key: String) -> String? {
        ProcessInfo.processInfo.environment[key]
    }

    static func configuration(folder: String) -> FileStoreConfiguration {
        var configuration = FileStoreConfiguration(folder: folder)
        configuration.segmentBytes = 8 << 10
        configuration.checkpointBytes = 6 << 10
        configuration.retentionBytes = 16 << 10
        return configuration
    }

    /// Returns the command line of the program.
    static func command() throws -> [String] {
        let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return [executable, "--testing-library", "swift-testing", "--filter", "StoreProgramTests"]
    }
}

/// Not a test: the entry point of ``StoreProgram``.
@Suite(.enabled(if: StoreProgram.value(StoreProgram.dataKey) != nil))
struct StoreProgramTests {
    @Test func `Performs a run`() async throws {
        let folder = try #require(StoreProgram.value(StoreProgram.dataKey))
        let index = try #require(StoreProgram.value(StoreProgram.runKey).flatMap { Int($0) })
        let results = try #require(StoreProgram.value(StoreProgram.resultsKey).flatMap { FileHandle(forWritingAtPath: $0) })
        let run = try Scenario.allWriteKinds().runs[index]
        let logger = Logger(label: "powercut") { _ in SwiftLogNoOpLogHandler() }
        let store = try await FileStore.open(StoreProgram.configuration(folder: folder), logger: logger)
        for (number, round) in run.rounds.enumerated() {
            try await withThrowingTaskGroup { group in
                for (index, writes) in round.enumerated() {
                    group.addTask {
                        let time = try await store.commit(writes.map { try $0.write() }).commitTime
                        // Acknowledges the commit.
                        try results.write(contentsOf: Data("\(number) \(index) \(time.rfc3339)\n".utf8))
                    }
                }
                try await group.waitForAll()
            }
        }
        switch run.ending {
        case .cleanly: await store.close()
        case .killed: kill(getpid(), SIGKILL)
        }
    }
}

extension Recording {
    /// Records a store in a child process.
    static func store(_ scenario: Scenario, in scratch: URL) async throws -> Recording {
        try await record(scenario, in: scratch) { index, data, trace in
            let results = scratch.appendingPathComponent("results-\(index)")
            try Data().write(to: results)
            let process = try TracedProcess(
                StoreProgram.command(),
                trace: trace,
                environment: [
                    StoreProgram.dataKey: data.path,
                    StoreProgram.runKey: "\(index)",
                    StoreProgram.resultsKey: results.path,
                ]
            )
            let output = await process.output.reduce(into: []) { $0.append($1) }.joined(separator: "\n")
            let status = try await process.end()
            let run = scenario.runs[index]
            guard status == (run.ending == .cleanly ? 0 : SIGKILL) else {
                throw TracedProcess.Failure(
                    description: "The store program exited with status \(status):\n\(output)\n\(process.errors)"
                )
            }
            return try String(contentsOf: results, encoding: .utf8).split(separator: "\n").map { line in
                let words = line.split(separator: " ")
                guard words.count == 3, let round = Int(words[0]), let index = Int(words[1]) else {
                    throw TracedProcess.Failure(description: "Unexpected output of the store program: \(line)")
                }
                return RecordedCommit(writes: run.rounds[round][index], time: try Timestamp(rfc3339: String(words[2])))
            }
        }
    }
}

extension ScenarioWrite {
    fileprivate func write() throws -> Write {
        switch self {
        case .create(let path, let fields): .create(path, fields)
        case .set(let path, let fields): try .set(path, fields)
        case .merge(let path, let fields): try .set(path, fields, merge: .all)
        case .delete(let path): .delete(path)
        }
    }
}
