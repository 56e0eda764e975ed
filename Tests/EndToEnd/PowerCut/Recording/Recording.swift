import Foundation
import UTF8Text

/// A recording of a scenario: its file operations and acknowledgments.
struct Recording: Sendable {
    /// The events of all runs in order.
    let events: [TraceEvent]
    let history: RecordedHistory
    /// The final files and folders.
    let tree: FileTree

    /// The name of the data folder.
    static let dataName: UTF8Key = "data"

    /// Executes the runs of a scenario and verifies that the traced system calls produce the actual folder contents.
    ///
    /// - Parameter run: Starts the program under strace with a data folder, performs a run, and waits until the program has exited.
    static func record(
        _ scenario: Scenario,
        in scratch: URL,
        run: (_ index: Int, _ data: URL, _ trace: URL) async throws -> [RecordedCommit]
    ) async throws -> Recording {
        let folder = scratch.appendingPathComponent("disk")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let data = folder.appendingPathComponent(dataName.string)
        var interpreter = TraceInterpreter(root: folder.path)
        var commits: [RecordedCommit] = []
        for index in scenario.runs.indices {
            let trace = scratch.appendingPathComponent("trace-\(index)")
            commits += try await run(index, data, trace)
            try interpreter.interpret(TraceReader.calls(in: Array(Data(contentsOf: trace))))
        }
        let found = try FolderContents.items(in: folder).filter { !TraceInterpreter.isDerived($0.path) }
        guard found == interpreter.tree.items else {
            throw TracedProcess.Failure(description: "The traces don't match the contents of the folder \(folder.path)")
        }
        return Recording(events: interpreter.events, history: RecordedHistory(commits), tree: interpreter.tree)
    }

    private init(events: [TraceEvent], history: RecordedHistory, tree: FileTree) {
        self.events = events
        self.history = history
        self.tree = tree
    }

    /// Returns the recording without the syncs whose labels have a prefix.
    func withoutSyncs(labeled prefix: String) -> Recording {
        let kept = events.filter { event in
            guard case .sync(_, let label, _) = event else { return true }
            return !label.utf8.starts(with: prefix.utf8)
        }
        return Recording(events: kept, history: history, tree: tree)
    }
}
