import DocumentModel
import StrictJSON
import UTF8Text

/// The common state of both editors: target, base revision and validation errors.
struct EditorContext: Sendable {
    let target: EditTarget
    let base: DocumentRevision
    var problems: FormProblems
    /// The token of the stream that tells the page of changes since the editor was opened; `nil` for a new document.
    var liveToken: UTF8Key?

    init(_ target: EditTarget, base: DocumentRevision, problems: FormProblems = FormProblems()) {
        self.target = target
        self.base = base
        self.problems = problems
    }

    /// Returns the context with validation errors.
    func with(_ problems: FormProblems) -> EditorContext {
        var editor = self
        editor.problems = problems
        return editor
    }

    /// The layout of the page.
    var layout: PageLayout {
        PageLayout(at: target.segments, for: target.document == nil ? localized("New document") : localized("Edit"))
    }
}

/// The parts shared by the pages of both editors: heading, ID field, errors and the link back.
struct EditorHeader: ViewModel {
    private let isNewDocument: Bool
    private let name: DisplayText
    private let problemAlert: ProblemAlert?
    private let base: String
    private let documentID: FormField
    private let returnURL: String
    private let liveToken: String?
    private let liveStream: LiveStreamView?
    private let historyURL: String?

    init(_ editor: EditorContext) {
        isNewDocument = editor.target.document == nil
        name = DisplayText(editor.target.segments.last?.string ?? "")
        problemAlert = ProblemAlert(editor.problems)
        base = editor.base.formValue
        documentID = FormField("id", editor.target.id, problems: editor.problems)
        returnURL = editor.target.returnURL
        let document = editor.target.document
        liveToken = document == nil ? nil : editor.liveToken?.string
        liveStream = document.flatMap { path in
            editor.liveToken.map { LiveStreamView(LiveStreamURL(path, resumingAt: $0)) }
        }
        historyURL = document.map { AdminURL.history(of: $0) }
    }
}
