import DocumentModel
import HTTPTypes
import UTF8Text

/// The editor of one value of a document. A script shows it beside the value.
struct ValueEditorPage: Page {
    static let template = TemplateLibrary.Name.valueEditor

    /// The state of an editor.
    struct State: Sendable {
        let document: DocumentPath
        /// The path of the value.
        let path: String
        /// The revision of the document that the editor shows.
        var base: DocumentRevision
        /// The value that the editor was opened with.
        var shown: Value
        var row: EditorRow
        var problems = FormProblems()
        /// True if another client has changed the value since then, to ``shown``.
        var isConflict = false
    }

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let name: DisplayText
    private let valuePath: DisplayText
    private let problemAlert: ProblemAlert?
    private let base: String
    private let shown: String
    private let theirs: ValueView?
    private let row: FieldEditorPage.Row
    private let action: String
    private let documentEditorURL: String
    private let returnURL: String

    init(_ state: State) {
        name = DisplayText(state.document.id.key.string)
        valuePath = DisplayText(state.path.truncatingMiddle(toScalars: 120))
        // An error of the value is stated beside it.
        let hasOtherProblems = state.problems.list.contains { !($0.field?.utf8.elementsEqual("r0-value".utf8) ?? false) }
        problemAlert = hasOtherProblems ? ProblemAlert(state.problems) : nil
        status = state.isConflict ? .conflict : state.problems.status
        base = state.base.formValue
        shown = EscapedJSON.text(state.shown.json)
        var values = ValueViewBuilder()
        theirs = state.isConflict ? values.view(of: state.shown, in: .cell) : nil
        var colors = values.colors
        let chip = state.row.type == .color ? ColorChip(state.row.text) : nil
        if let chip { colors.insert(chip.color) }
        row = FieldEditorPage.Row(
            state.row,
            number: 0,
            isElement: true,
            label: valuePath.plain,
            chip: chip,
            types: EditorValueType.allCases.filter { !$0.isContainer },
            problems: state.problems
        )
        action = AdminURL.value(state.path, of: state.document)
        documentEditorURL = AdminURL.editor(of: state.document, at: state.path)
        returnURL = AdminURL.document(state.document)
        layout = PageLayout(at: state.document.segments, for: localized("Edit value"))
        layout.colors = colors
    }
}

extension AdminURL {
    /// The editor of one value of a document.
    ///
    /// - Parameter path: The path of the value in the notation of ``ElementPath``.
    static func value(_ path: String, of document: DocumentPath) -> String {
        AdminURL.document(document, query: [("value", UTF8Key(path))])
    }

    /// The editor of a document, with the focus on a value.
    ///
    /// - Parameter path: The path of the value in the notation of ``ElementPath``.
    static func editor(of document: DocumentPath, at path: String) -> String {
        AdminURL.document(document, query: [("edit", "fields"), ("at", UTF8Key(path))])
    }
}
