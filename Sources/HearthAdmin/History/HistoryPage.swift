import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import UTF8Text

/// The history of a document: its versions, each with the changes from the previous one.
struct HistoryPage: Page {
    static let template = TemplateLibrary.Name.history

    /// A version.
    struct Version: ViewModel {
        let time: RelativeTimeView
        let isCreated: Bool
        let isChanged: Bool
        let isDeleted: Bool
        /// True for the oldest retained version; the previous one is unknown.
        let isOldest: Bool
        /// The API key of the commit; `nil` if it is unknown.
        let author: DisplayText?
        let lines: [Line]
        let hasLines: Bool
        /// The number of changes beyond the limit; `nil` if all are shown.
        let hiddenChanges: String?
        /// The value that the restore form submits; `nil` for the current version and for deletions.
        let version: String?
    }

    /// An added or removed value of a field.
    struct Line: ViewModel {
        let isAddition: Bool
        let path: DisplayText
        let type: String
        let value: ValueView
    }

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let heading: PathHeading
    private let returnURL: String
    private let problemAlert: ProblemAlert?
    private let hasVersions: Bool
    private let versions: [Version]
    /// The update time of the current version, which the restore form submits.
    private let current: String
    private let damage: DamagedFileView?
    private let damageFingerprint: String?
    private let fileURL: String
    private let restoreURL: String
    private let hasPages: Bool
    private let firstURL: String?
    private let nextURL: String?

    /// - Parameters:
    ///   - found: The versions, newest first.
    ///   - state: The current state of the document.
    ///   - before: The commit time that all versions on the page precede; `nil` for the first page.
    ///   - keys: The keys whose labels the user may see; other keys are shown by ID.
    init(
        _ path: DocumentPath,
        _ found: [DocumentVersion],
        hasMore: Bool,
        state: StoredDocumentState,
        before: Timestamp?,
        keys: [APIKey],
        problems: FormProblems = FormProblems(),
        now: Timestamp
    ) throws(StatusError) {
        returnURL = AdminURL.document(path)
        restoreURL = returnURL + "?restore"
        fileURL = AdminURL.file(of: path)
        problemAlert = ProblemAlert(problems)
        current = state.document.map { String($0.updateTime.microseconds) } ?? ""
        damage = state.damage.map { DamagedFileView($0.error) }
        damageFingerprint = state.damage?.fingerprint?.string
        status = problems.isEmpty ? .ok : .conflict
        heading = PathHeading(path.segments)
        layout = PageLayout(at: path.segments, for: localized("History"))
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
            let isCreated = fields != nil && (isFirst || (previous != nil && old == nil))
            let isOldest = fields != nil && !isCreated && previous == nil
            let difference = FieldDiff(from: old ?? [:], to: fields ?? [:])
            versions.append(
                Version(
                    time: RelativeTimeView(version.commitTime, now: now),
                    isCreated: isCreated,
                    isChanged: fields != nil && !isCreated && !isOldest,
                    isDeleted: fields == nil,
                    isOldest: isOldest,
                    author: version.author.map { id in
                        // Labels aren't unique.
                        let label = keys.first { $0.id == id }?.label ?? ""
                        return DisplayText(
                            label.utf8.isEmpty ? id.string : "\(label.truncatingMiddle(toScalars: 40)) (\(id.string))"
                        )
                    },
                    lines: Self.lines(difference, &values),
                    hasLines: !difference.changes.isEmpty,
                    hiddenChanges: Self.text(ofHiddenChanges: difference.count - difference.changes.count),
                    version: version.document.flatMap { document in
                        document == state.document || isIrreplaceable ? nil : String(document.updateTime.microseconds)
                    }
                )
            )
        }
        self.versions = versions
        hasVersions = !versions.isEmpty
        layout.colors = values.colors
        let url = AdminURL.history(of: path)
        firstURL = before == nil ? nil : url
        nextURL = hasMore ? shown.last.map { "\(url)&before=\($0.commitTime.microseconds)" } : nil
        hasPages = firstURL != nil || nextURL != nil
    }

    private static func text(ofHiddenChanges count: Int) -> String? {
        count > 0 ? localized(count: count, one: "{count} more change", other: "{count} more changes") : nil
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
                        type: ValueType(of: value).name,
                        value: values.view(of: value, in: .cell)
                    )
                )
            }
        }
        return lines
    }
}
