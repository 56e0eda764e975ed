import DocumentModel
import Foundation

/// A point of a recording at which the power can fail.
struct CutPoint: Sendable {
    let disk: SimulatedDisk
    /// The number of commits acknowledged by then, which must survive.
    let acknowledged: Int
    /// A description of the last event.
    let label: String
    /// True if the last event was an acknowledgment, or the next one syncs everything: most errors show at these points.
    var isDecisive: Bool

    /// The responses to some commits are missing in the trace.
    struct MissingResponses: Error {
        let commits: [Int]
    }

    /// Returns the points after each relevant event.
    static func points(of recording: Recording) throws -> [CutPoint] {
        var disk = SimulatedDisk()
        var acknowledged = 0
        // A response is identified by its commit time, which is unique.
        var pending = recording.history.commits.enumerated().map { (number: $0 + 1, timeBytes: Data($1.time.rfc3339.utf8)) }
        var points = [CutPoint(disk: disk, acknowledged: 0, label: "the start", isDecisive: false)]
        for event in recording.events {
            let label: String
            var isDecisive = false
            switch event {
            case .operation(let operation, let text, let end):
                disk.perform(operation, label: text, end: end)
                label = text
            case .sync(let scope, let text, let begin):
                if scope == .everything { points[points.count - 1].isDecisive = true }
                disk.synchronize(scope, begin: begin)
                label = text
            case .sent(let bytes):
                let data = Data(bytes)
                let acknowledgedNumbers = pending.filter { data.range(of: $0.timeBytes) != nil }.map(\.number)
                guard let last = acknowledgedNumbers.max() else { continue }
                pending.removeAll { acknowledgedNumbers.contains($0.number) }
                isDecisive = last > acknowledged
                acknowledged = max(acknowledged, last)
                label = "the response to commit \(acknowledgedNumbers)"
            }
            points.append(CutPoint(disk: disk, acknowledged: acknowledged, label: label, isDecisive: isDecisive))
        }
        guard pending.isEmpty else { throw MissingResponses(commits: pending.map(\.number)) }
        return points
    }
}

/// A state after a power cut: the outcomes of the operations that were not synced.
struct CutState: Hashable, Sendable {
    /// The index of the cut point.
    let point: Int
    /// True if operations without an entry in `outcomes` are complete; otherwise they are lost.
    let keepsOthers: Bool
    /// Outcomes by operation index.
    var outcomes: [Int: Outcome] = [:]

    /// The outcome of an operation.
    enum Outcome: Hashable, Sendable {
        case whole
        /// One of ``FileOperation/partialOutcomes``; the first one is nothing.
        case partialOutcome(Int)
        case cut(Int, growing: Bool)
    }

    /// Returns the resulting files on disk.
    func tree(at point: CutPoint) -> FileTree {
        point.disk.afterPowerCut { index, pending in
            switch outcomes[index] ?? (keepsOthers ? .whole : .partialOutcome(0)) {
            case .whole: [pending.operation]
            case .partialOutcome(let index): pending.operation.partialOutcomes[index]
            case .cut(let length, let growing): pending.operation.cut(to: length, growing: growing)
            }
        }
    }

    /// Returns a description for error messages.
    func description(at point: CutPoint) -> String {
        let pending = point.disk.pending
        let outcomes = outcomes.sorted { $0.key < $1.key }.map { "  \(pending[$0.key].label): \($0.value)" }
        return """
            Power cut after: \(point.label); \(point.acknowledged) acknowledged commits.
            \(pending.count) pending operations, all \(keepsOthers ? "complete" : "lost") except:
            \(outcomes.joined(separator: "\n"))
            """
    }
}
