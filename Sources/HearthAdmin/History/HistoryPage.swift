import DocumentModel
import DocumentStore
import HTTPTypes
import HearthService
import StrictJSON

/// What a document was, version by version, each with what it has changed.
struct HistoryPage: Page {
    static let template = TemplateLibrary.Name.history

    /// A version.
    struct Version: Sendable {
        let time: DocumentHeader.Moment
        let kind: Kind
        /// The key that it was made with; nil where that isn't known.
        let author: DisplayText?
        let lines: [Line]
        /// How many changes more than there are lines.
        let hidden: Int
        /// What the form to restore it sends; nil for the present one and for where there was no document.
        let version: String?
    }

    /// What a version did to the document.
    enum Kind: Sendable {
        case created
        case changed
        case deleted
        /// What was before isn't kept.
        case oldest
    }

    /// A field as it was, or as it became.
    struct Line: Sendable {
        let isAddition: Bool
        let path: DisplayText
        let type: ValueType
        let value: ValueView
    }

    var chrome: PageChrome
    let status: HTTPResponse.Status
    private let path: DocumentPath
    private let heading: PathHeading
    private let versions: [Version]
    private let state: DocumentState
    private let problems: FormProblems
    private let firstURL: String?
    private let nextURL: String?

    /// - Parameters:
    ///   - found: The versions, the newest first.
    ///   - state: What there is of the document now.
    ///   - before: Where the page begins; nil for the newest.
    ///   - keys: The keys whose names may be told; others are told of by their IDs.
    init(
        _ path: DocumentPath,
        _ found: [DocumentVersion],
        hasMore: Bool,
        state: DocumentState,
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
        chrome = PageChrome(at: path.segments)
        var values = ValueViewBuilder()
        // The last one only tells what was before the one before.
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
            let difference = FieldDifference(from: old ?? [:], to: fields ?? [:])
            versions.append(
                Version(
                    time: DocumentHeader.Moment(version.commitTime, now: now),
                    kind: kind,
                    author: version.author.map { id in
                        // The label alone may be that of another key, too.
                        let label = keys.first { $0.id == id }?.label ?? ""
                        return DisplayText(label.utf8.isEmpty ? id.string : "\(label.shortened(scalars: 40)) (\(id.string))")
                    },
                    lines: Self.lines(difference, &values),
                    hidden: difference.count - difference.changes.count,
                    version: version.document.flatMap { document in
                        document == state.document || isIrreplaceable ? nil : String(document.updateTime.microseconds)
                    }
                )
            )
        }
        self.versions = versions
        chrome.colors = values.colors
        let url = AdminURL.history(of: path)
        firstURL = before == nil ? nil : url
        nextURL = hasMore ? shown.last.map { "\(url)&before=\($0.commitTime.microseconds)" } : nil
    }

    private static func lines(_ difference: FieldDifference, _ values: inout ValueViewBuilder) -> [Line] {
        var lines: [Line] = []
        for change in difference.changes {
            for (value, isAddition) in [(change.before, false), (change.after, true)] {
                guard let value else { continue }
                lines.append(
                    Line(
                        isAddition: isAddition,
                        path: DisplayText(change.path.shortened(scalars: 120)),
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
        case "damaged": (state.damage?.mark?.string).orAbsent
        case "damage": (state.damage.map { DamagedFile($0.error) }).orAbsent
        case "fileURL": AdminURL.file(of: path)
        case "restoreURL": AdminURL.document(path) + "?restore"
        case "backURL": AdminURL.document(path)
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
        case "hiddenLines":
            hidden > 0 ? localized(count: hidden, one: "{count} more change", other: "{count} more changes") : Absent()
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
