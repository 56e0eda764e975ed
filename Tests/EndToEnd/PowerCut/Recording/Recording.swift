import DocumentModel
import Foundation
import StrictJSON

/// What a scenario did to the folder that its data folder was made in, and what was promised when.
struct Recording: Sendable {
    /// The events of all runs, in order.
    let events: [TraceEvent]
    let history: History
    /// All files and folders in the end, as they were for the programs.
    let tree: FileTree

    /// The name of the data folder in its folder.
    static let dataName: UTF8Key = "data"

    /// Runs a program for each run of the scenario, and checks that its system calls explain all that is in the folder.
    ///
    /// - Parameter run: Starts the program under strace with a data folder, makes it carry out a run, and waits for its end.
    static func record(
        _ scenario: Scenario,
        in scratch: URL,
        run: (_ index: Int, _ data: URL, _ trace: URL) async throws -> [RecordedCommit]
    ) async throws -> Recording {
        let folder = scratch.appendingPathComponent("disk")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let data = folder.appendingPathComponent(dataName.string)
        var follower = TraceFollower(root: folder.path)
        var commits: [RecordedCommit] = []
        for index in scenario.runs.indices {
            let trace = scratch.appendingPathComponent("trace-\(index)")
            commits += try await run(index, data, trace)
            try follower.follow(TraceReader.calls(in: Array(Data(contentsOf: trace))))
        }
        let found = try FolderLayout.items(in: folder).filter { !TraceFollower.isDerived($0.path) }
        guard found == follower.tree.items else {
            throw TracedProcess.Failure(description: "The traces don't explain what is in the folder \(folder.path)")
        }
        return Recording(events: follower.events, history: History(commits), tree: follower.tree)
    }

    private init(events: [TraceEvent], history: History, tree: FileTree) {
        self.events = events
        self.history = history
        self.tree = tree
    }

    /// The same recording of a program that leaves out some of its syncs.
    func withoutSyncs(labelled start: String) -> Recording {
        let kept = events.filter { event in
            guard case .sync(_, let label, _) = event else { return true }
            return !label.utf8.starts(with: start.utf8)
        }
        return Recording(events: kept, history: history, tree: tree)
    }
}
