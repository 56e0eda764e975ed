import DocumentModel
import HTTPTypes
internal import UTF8Text

/// The page that resolves an edit conflict: it offers the base value, their value and your value of each differing field.
struct ConflictPage: Page {
    static let template = TemplateLibrary.Name.conflict

    struct Row: ViewModel {
        let number: Int
        let name: DisplayText
        let baseValue: ValueView?
        let theirValue: ValueView?
        let yourValue: ValueView?
        let isTheirs: Bool
        let isYours: Bool
        /// True if neither side is chosen.
        let isOpen: Bool
    }

    /// An edit of a document that has changed or was deleted since the editor was opened.
    struct Conflict: Sendable {
        let path: DocumentPath
        let base: DocumentRevision
        /// The fields of the base revision; `nil` if it is not retained.
        let baseFields: MapValue?
        /// The current document; `nil` if it was deleted.
        let theirs: EncodedDocument?
        let theirFields: MapValue
        let yours: MapValue

        var merge: ThreeWayMerge { ThreeWayMerge(base: baseFields, theirs: theirFields, yours: yours) }
    }

    let status = HTTPResponse.Status.conflict
    var layout: PageLayout
    private let name: DisplayText
    private let problemAlert: ProblemAlert?
    private let isDeleted: Bool
    /// The time of the current version; `nil` if the document was deleted.
    private let changed: RelativeTimeView?
    private let hasBase: Bool
    private let hasRows: Bool
    private let rows: [Row]
    private let base: String
    private let theirs: String
    private let yours: String
    private let action: String
    private let returnURL: String

    /// - Parameters:
    ///   - target: The editor that the form is sent to.
    ///   - choices: The choices that were submitted, in the order of the fields.
    ///   - isIncomplete: Whether the submitted form lacks choices.
    init(
        _ conflict: Conflict,
        _ target: EditTarget,
        choices: [ThreeWayMerge.Side?] = [],
        isIncomplete: Bool = false,
        now: Timestamp
    ) {
        name = DisplayText(conflict.path.id.key.string)
        isDeleted = conflict.theirs == nil
        hasBase = conflict.baseFields != nil
        base = conflict.base.formValue
        theirs = DocumentRevision(conflict.theirs).formValue
        yours = JSONEditorPage.text(of: conflict.yours)
        action = target.url(asJSON: false)
        returnURL = target.returnURL
        layout = PageLayout(at: conflict.path.segments)
        var values = ValueViewBuilder()
        let merge = conflict.merge
        rows = merge.differences.enumerated().map { number, difference in
            let chosen = choices.indices.contains(number) ? choices[number] : difference.changedBy
            return Row(
                number: number,
                name: DisplayText((try? FieldPath(segments: difference.path))?.description ?? ""),
                baseValue: difference.base.map { values.view(of: $0, in: .cell) },
                theirValue: difference.theirs.map { values.view(of: $0, in: .cell) },
                yourValue: difference.yours.map { values.view(of: $0, in: .cell) },
                isTheirs: chosen == .theirs,
                isYours: chosen == .yours,
                isOpen: chosen == nil
            )
        }
        hasRows = !rows.isEmpty
        var problems = FormProblems()
        for row in rows where isIncomplete && row.isOpen {
            problems.add(localized("Choose a value for this field."), at: "c\(row.number)-yours")
        }
        problemAlert = ProblemAlert(problems)
        changed = conflict.theirs.map { RelativeTimeView($0.updateTime, now: now) }
        layout.colors = values.colors
    }
}
