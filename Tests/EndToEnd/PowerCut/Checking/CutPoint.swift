import DocumentModel
import Foundation

/// A moment of a recording at which the power may go.
struct CutPoint: Sendable {
    let disk: Disk
    /// How many commits were promised by then: as many must be there afterwards, or more.
    let promised: Int
    /// What happened last.
    let label: String
    /// Whether it was an answer, or everything is synced next: most of what a program gets wrong is seen here.
    var isDecisive: Bool

    /// The answers to some commits are not in the trace.
    struct MissingAnswers: Error {
        let commits: [Int]
    }

    /// The moments after each event that matters.
    static func points(of recording: Recording) throws -> [CutPoint] {
        var disk = Disk()
        var promised = 0
        // An answer is told by the commit's time, which no other has.
        var unanswered = recording.history.commits.enumerated().map { (number: $0 + 1, mark: Data($1.time.rfc3339.utf8)) }
        var points = [CutPoint(disk: disk, promised: 0, label: "the beginning", isDecisive: false)]
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
                let answered = unanswered.filter { data.range(of: $0.mark) != nil }.map(\.number)
                guard let last = answered.max() else { continue }
                unanswered.removeAll { answered.contains($0.number) }
                isDecisive = last > promised
                promised = max(promised, last)
                label = "the answer to commit \(answered)"
            }
            points.append(CutPoint(disk: disk, promised: promised, label: label, isDecisive: isDecisive))
        }
        guard unanswered.isEmpty else { throw MissingAnswers(commits: unanswered.map(\.number)) }
        return points
    }
}

/// What became of the operations that were not synced when the power went.
struct CutState: Hashable, Sendable {
    /// The index of the crash point.
    let point: Int
    /// Whether the operations that are not named in `fates` are there wholly; otherwise nothing is left of them.
    let keepsRest: Bool
    /// By the index of the operation.
    var fates: [Int: Fate] = [:]

    /// What became of one operation.
    enum Fate: Hashable, Sendable {
        case whole
        /// One of ``FileOperation/remnants``: nothing for the first.
        case remnant(Int)
        case cut(Int, growing: Bool)
    }

    /// What is on the disk.
    func tree(at point: CutPoint) -> FileTree {
        point.disk.afterPowerCut { index, pending in
            switch fates[index] ?? (keepsRest ? .whole : .remnant(0)) {
            case .whole: [pending.operation]
            case .remnant(let index): pending.operation.remnants[index]
            case .cut(let length, let growing): pending.operation.cut(to: length, growing: growing)
            }
        }
    }

    /// In words.
    func description(at point: CutPoint) -> String {
        let pending = point.disk.pending
        let fates = fates.sorted { $0.key < $1.key }.map { "  \(pending[$0.key].label): \($0.value)" }
        return """
            The power goes after: \(point.label); \(point.promised) commits were promised.
            Of \(pending.count) operations that were not synced \(keepsRest ? "all are there" : "nothing is left"), but for:
            \(fates.joined(separator: "\n"))
            """
    }
}
