import DocumentModel
import DocumentStore
import HearthAPI

/// A list of edits of files that need a person, with links to their documents.
struct FileProblemList: ViewModel {
    private let problems: [DamagedFileView]
    /// The number of further problems.
    private let hiddenCount: String?

    /// The number of problems that are shown.
    static let pageSize: PageSize = 20

    /// Creates the list; returns `nil` if there are no problems.
    init?(_ report: FileProblemReport) {
        guard !report.problems.isEmpty else { return nil }
        problems = report.problems.map { problem in
            DamagedFileView(StatusError(.dataLoss, problem.message, path: problem.document?.string, file: problem.file))
        }
        let hidden = report.count - report.problems.count
        hiddenCount = hidden > 0 ? NumberFormat.grouped(hidden) : nil
    }
}
