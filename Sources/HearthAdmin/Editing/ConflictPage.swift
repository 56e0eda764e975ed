import DocumentModel
import HTTPTypes
import StrictJSON

/// A document that somebody else has changed or deleted while it was edited: what it was, what they made of it and what was typed,
/// with a choice for each field.
struct ConflictPage: Page {
    static let template = TemplateLibrary.Name.conflict

    /// A field with its three values.
    struct Row: Sendable {
        let number: Int
        let name: DisplayText
        let base: ValueView?
        let theirs: ValueView?
        let yours: ValueView?
        let chosen: ThreeWayMerge.Side?
        let isMissed: Bool
    }

    /// What was edited, and what is there now.
    struct Conflict: Sendable {
        let path: DocumentPath
        let base: EditBase
        let before: MapValue?
        /// The document as it is now; nil when it was deleted.
        let theirs: EncodedDocument?
        let theirFields: MapValue
        let yours: MapValue

        var merge: ThreeWayMerge { ThreeWayMerge(base: before, theirs: theirFields, yours: yours) }
    }

    let status = HTTPResponse.Status.conflict
    var chrome: PageChrome
    private let conflict: Conflict
    private let heading: PathHeading
    private let rows: [Row]
    private let problems: FormProblems
    private let time: DocumentHeader.Moment?

    /// - Parameters:
    ///   - choices: What was chosen already, in the order of the fields.
    ///   - isIncomplete: Whether choices were sent, and some are missing.
    init(_ conflict: Conflict, choices: [ThreeWayMerge.Side?] = [], isIncomplete: Bool = false, now: Timestamp) {
        self.conflict = conflict
        heading = PathHeading(conflict.path.segments)
        chrome = PageChrome(at: conflict.path.segments)
        var values = ValueViewBuilder()
        let merge = conflict.merge
        rows = merge.places.enumerated().map { number, place in
            let chosen = choices.indices.contains(number) ? choices[number] : place.changer
            return Row(
                number: number,
                name: DisplayText((try? FieldPath(segments: place.path))?.description ?? ""),
                base: place.base.map { values.view(of: $0, in: .cell) },
                theirs: place.theirs.map { values.view(of: $0, in: .cell) },
                yours: place.yours.map { values.view(of: $0, in: .cell) },
                chosen: chosen,
                isMissed: isIncomplete && chosen == nil
            )
        }
        var problems = FormProblems()
        for row in rows where row.isMissed {
            problems.add(localized("Choose whose value this field gets."), at: "c\(row.number)-yours")
        }
        self.problems = problems
        time = conflict.theirs.map { DocumentHeader.Moment($0.updateTime, now: now) }
        chrome.colors = values.colors
    }

    func content(named name: String) -> Any? {
        switch name {
        case "rows": rows
        case "hasRows": !rows.isEmpty
        case "isDeleted": conflict.theirs == nil
        case "changed": time.orAbsent
        case "hasBase": conflict.before != nil
        case "base": conflict.base.text
        case "theirs": EditBase(conflict.theirs).text
        case "yours": EditJSONPage.text(of: conflict.yours)
        case "action": EditTarget(conflict.path).url(asJSON: false)
        case "backURL": AdminURL.document(conflict.path)
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
        case "before": base.orAbsent
        case "theirValue": theirs.orAbsent
        case "yourValue": yours.orAbsent
        case "isYours": chosen == .yours
        case "isTheirs": chosen == .theirs
        case "isOpen": chosen == nil
        case "isMissed": isMissed
        default: nil
        }
    }
}
