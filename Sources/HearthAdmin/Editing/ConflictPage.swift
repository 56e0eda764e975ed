import DocumentModel
import HTTPTypes

/// The page of an edit conflict, with the base, their and your value of each differing field to choose from.
struct ConflictPage: Page {
    static let template = TemplateLibrary.Name.conflict

    struct Row: Sendable {
        let number: Int
        let name: DisplayText
        let base: ValueView?
        let theirs: ValueView?
        let yours: ValueView?
        let chosen: ThreeWayMerge.Side?
        let isUnresolved: Bool
    }

    /// An edit of a document that has changed or was deleted since the editor was opened.
    struct Conflict: Sendable {
        let path: DocumentPath
        let base: DocumentRevision
        /// The fields of the base revision; nil when it is not retained.
        let baseFields: MapValue?
        /// The current document; nil when it was deleted.
        let theirs: EncodedDocument?
        let theirFields: MapValue
        let yours: MapValue

        var merge: ThreeWayMerge { ThreeWayMerge(base: baseFields, theirs: theirFields, yours: yours) }
    }

    let status = HTTPResponse.Status.conflict
    var layout: PageLayout
    private let conflict: Conflict
    private let heading: PathHeading
    private let rows: [Row]
    private let problems: FormProblems
    private let time: Moment?

    /// - Parameters:
    ///   - choices: The choices that were submitted, in the order of the fields.
    ///   - isIncomplete: Whether the submitted form lacks choices.
    init(_ conflict: Conflict, choices: [ThreeWayMerge.Side?] = [], isIncomplete: Bool = false, now: Timestamp) {
        self.conflict = conflict
        heading = PathHeading(conflict.path.segments)
        layout = PageLayout(at: conflict.path.segments)
        var values = ValueViewBuilder()
        let merge = conflict.merge
        rows = merge.differences.enumerated().map { number, difference in
            let chosen = choices.indices.contains(number) ? choices[number] : difference.changedBy
            return Row(
                number: number,
                name: DisplayText((try? FieldPath(segments: difference.path))?.description ?? ""),
                base: difference.base.map { values.view(of: $0, in: .cell) },
                theirs: difference.theirs.map { values.view(of: $0, in: .cell) },
                yours: difference.yours.map { values.view(of: $0, in: .cell) },
                chosen: chosen,
                isUnresolved: isIncomplete && chosen == nil
            )
        }
        var problems = FormProblems()
        for row in rows where row.isUnresolved {
            problems.add(localized("Choose a value for this field."), at: "c\(row.number)-yours")
        }
        self.problems = problems
        time = conflict.theirs.map { Moment($0.updateTime, now: now) }
        layout.colors = values.colors
    }

    func content(named name: String) -> Any? {
        switch name {
        case "rows": rows
        case "hasRows": !rows.isEmpty
        case "isDeleted": conflict.theirs == nil
        case "changed": time.orAbsent
        case "hasBase": conflict.baseFields != nil
        case "base": conflict.base.formValue
        case "theirs": DocumentRevision(conflict.theirs).formValue
        case "yours": JSONEditorPage.text(of: conflict.yours)
        case "action": EditTarget(conflict.path).url(asJSON: false)
        case "returnURL": AdminURL.document(conflict.path)
        case "problems", "hasProblems", "isOneProblem": problems.child(named: name)
        default: heading.child(named: name)
        }
    }
}

extension ConflictPage.Row: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "number": number
        case "name": self.name
        case "baseValue": base.orAbsent
        case "theirValue": theirs.orAbsent
        case "yourValue": yours.orAbsent
        case "isYours": chosen == .yours
        case "isTheirs": chosen == .theirs
        case "isOpen": chosen == nil
        case "isUnresolved": isUnresolved
        default: nil
        }
    }
}
