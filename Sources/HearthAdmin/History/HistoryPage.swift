import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import UTF8Text

/// The history of a document: its versions, each with the changes from the previous one.
struct HistoryPage: Page {
    static let template = TemplateLibrary.Name.history

    /// A version.
    struct Version: Sendable {
        let time: Moment
        let kind: Kind
        /// The API key of the commit; nil when it isn't known.
        let author: DisplayText?
        let lines: [Line]
        /// The number of changes beyond the limit.
        let hiddenCount: Int
        /// The value that the restore form submits; nil for the current version and for deletions.
        let version: String?
    }

    /// The kind of change that a version made.
    enum Kind: Sendable {
        case created
        case changed
        case deleted
        /// The oldest retained version; the previous one is unknown.
        case oldest
    }

    /// An added or removed value of a field.
    struct Line: Sendable {
        let isAddition: Bool
        let path: DisplayText
        let type: ValueType
        let value: ValueView
    }

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let path: DocumentPath
    private let heading: PathHeading
    private let versions: [Version]
    private let state: StoredDocumentState
    private let problems: FormProblems
    private let firstURL: String?
    private let nextURL: String?

    /// - Parameters:
    ///   - found: The versions, newest first.
    ///   - state: The current state of the document.
    ///   - before: The commit time before which the page begins; nil for the first page.
    ///   - keys: The keys whose labels the user may see; other keys are shown by ID.
    init(
        _ path: DocumentPath,
        _ found: [DocumentVersion],
        hasMore: Bool,
        state: StoredDocumentState,
        before: Timestamp?,
        keys: [AccessKey],
        problems: FormProblems = FormProblems(),
        now: Timestamp
    ) throws(StatusError) {
        self.path = path
        self.problems = problems
        self.state = state
        status = problems.isEmpty ? .ok : .conflict
        heading = PathHeading(path.segments)
        layout = PageLayout(at: path.segments)
        var values = ValueViewBuilder()
        // When there is another page, its first version is only needed for comparison.
        let isIrreplaceable = state.damage.map { $0.contents == nil } ?? false
        let shown = hasMore ? found.dropLast() : found[...]
        var versions: [Version] = []
        for (index, version) in shown.enumerated() {
            let previous = index + 1 < found.count ? found[index + 1] : nil
            let fields = try version.document?.decoded().fields
            let old = try previous?.document?.decoded().fields
            let isFirst = version.document.map { $0.createTime == version.commitTime } ?? false
            let kind: Kind =
                fields == nil
                ? .deleted : isFirst || (previous != nil && old == nil) ? .created : previous == nil ? .oldest : .changed
            let difference = FieldDiff(from: old ?? [:], to: fields ?? [:])
            versions.append(
                Version(
                    time: Moment(version.commitTime, now: now),
                    kind: kind,
                    author: version.author.map { id in
                        // Labels aren't unique.
                        let label = keys.first { $0.id == id }?.label ?? ""
                        return DisplayText(
                            label.utf8.isEmpty ? id.string : "\(label.truncatingMiddle(toScalars: 40)) (\(id.string))"
                        )
                    },
                    lines: Self.lines(difference, &values),
                    hiddenCount: difference.count - difference.changes.count,
                    version: version.document.flatMap { document in
                        document == state.document || isIrreplaceable ? nil : String(document.updateTime.microseconds)
                    }
                )
            )
        }
        self.versions = versions
        layout.colors = values.colors
        let url = AdminURL.history(of: path)
        firstURL = before == nil ? nil : url
        nextURL = hasMore ? shown.last.map { "\(url)&before=\($0.commitTime.microseconds)" } : nil
    }

    private static func lines(_ difference: FieldDiff, _ values: inout ValueViewBuilder) -> [Line] {
        var lines: [Line] = []
        for change in difference.changes {
            for (value, isAddition) in [(change.before, false), (change.after, true)] {
                guard let value else { continue }
                lines.append(
                    Line(
                        isAddition: isAddition,
                        path: DisplayText(change.path.truncatingMiddle(toScalars: 120)),
                        type: ValueType(of: value),
                        value: values.view(of: value, in: .cell)
                    )
                )
            }
        }
        return lines
    }

    func content(named name: String) -> Any? {
        switch name {
        case "versions": versions
        case "hasVersions": !versions.isEmpty
        case "current": state.document.map { String($0.updateTime.microseconds) } ?? ""
        case "damageFingerprint": (state.damage?.fingerprint?.string).orAbsent
        case "damage": (state.damage.map { DamagedFileView($0.error) }).orAbsent
        case "fileURL": AdminURL.file(of: path)
        case "restoreURL": AdminURL.document(path) + "?restore"
        case "returnURL": AdminURL.document(path)
        case "firstURL": firstURL.orAbsent
        case "nextURL": nextURL.orAbsent
        case "hasPages": firstURL != nil || nextURL != nil
        case "problems", "hasProblems", "isOneProblem": problems.child(named: name)
        default: heading.child(named: name)
        }
    }
}

extension HistoryPage.Version: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "time": time
        case "isCreated": kind == .created
        case "isChanged": kind == .changed
        case "isDeleted": kind == .deleted
        case "isOldest": kind == .oldest
        case "author": author.orAbsent
        case "lines": lines
        case "hasLines": !lines.isEmpty
        case "hiddenChanges":
            hiddenCount > 0 ? localized(count: hiddenCount, one: "{count} more change", other: "{count} more changes") : Absent()
        case "version": version.orAbsent
        default: nil
        }
    }
}

extension HistoryPage.Line: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "isAddition": isAddition
        case "path": path
        case "type": type.name
        case "value": value
        default: nil
        }
    }
}
