import DocumentModel

/// The common state of both editors: target, base revision and validation errors.
struct EditorContext: Sendable {
    let target: EditTarget
    let base: DocumentRevision
    var problems: FormProblems
    private let heading: PathHeading

    init(_ target: EditTarget, base: DocumentRevision, problems: FormProblems = FormProblems()) {
        self.target = target
        self.base = base
        self.problems = problems
        heading = PathHeading(target.segments)
    }

    /// Returns the context with validation errors.
    func with(_ problems: FormProblems) -> EditorContext {
        var editor = self
        editor.problems = problems
        return editor
    }

    /// The frame of the page.
    var layout: PageLayout {
        var layout = PageLayout(at: target.segments)
        let title = layout.title
        layout.title = target.document == nil ? localized("New document") : localized("Edit")
        layout.title += " · " + title
        return layout
    }
}

extension EditorContext: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "isNewDocument": target.document == nil
        case "base": base.formValue
        case "documentID": FormField("id", target.id, problems: problems)
        case "returnURL": target.returnURL
        case "problems", "hasProblems", "isOneProblem": problems.child(named: name)
        default: heading.child(named: name)
        }
    }
}
