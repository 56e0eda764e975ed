import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON
import UTF8Text

/// The controller for the editor of one value of a document.
struct ValueController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Handles the editor of a value and its form. Maps and arrays are edited in the editor of the document.
    func edit(_ path: DocumentPath) async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.writer)
            let text = request.query["value"]?.string ?? ""
            let document = try await GetDocument.document(.init(path: path), in: context)
            let fields = try document.decoded().fields
            guard let value = ElementLocation(text, in: fields)?.value(in: fields) else {
                throw StatusError(.notFound, "The document has no such field.", path: path.string, field: text)
            }
            let row = EditorRow(value, name: nil, depth: 0)
            let state = ValueEditorPage.State(
                document: path,
                path: text,
                base: DocumentRevision(document),
                shown: value,
                row: row
            )
            guard let submission else {
                guard !row.type.isContainer else { return .redirect(to: AdminURL.editor(of: path, at: text)) }
                return .page(ValueEditorPage(state))
            }
            return try await handle(submission, state)
        }
    }

    /// - Parameter current: The editor of the current document.
    private func handle(
        _ submission: FormSubmission,
        _ current: ValueEditorPage.State
    ) async throws(StatusError) -> FormResult {
        let form = submission.form
        guard let row = EditorRow(0, of: form), !row.type.isContainer, let base = DocumentRevision(form["base"]),
            let shown = form["shown"].flatMap({ try? Value(json: JSONText($0.string).root) })
        else { return .page(ErrorPage.invalidForm) }
        var state = current
        (state.base, state.shown, state.row) = (base, shown, row)
        if submission.isStale { state.problems = .stale }
        if form["do"] == "find-0", row.type == .reference {
            let suggestions = await ReferenceSuggestions(for: row.text, in: current.document.collection, for: request)
            (state.row.suggestions, state.row.focus) = (suggestions.paths, .value)
            return .page(ValueEditorPage(state))
        }
        guard form["do"] != "types", state.problems.isEmpty else {
            state.row.focus = row.type == .null ? .type : .value
            return .page(ValueEditorPage(state))
        }
        let value: Value
        do throws(EditorRow.InvalidInput) {
            value = try row.value()
        } catch {
            state.problems.add(error.message, at: "r0-value")
            state.row.focus = .value
            return .page(ValueEditorPage(state))
        }
        return try await save(value, state, current)
    }

    /// Writes a value, unless another client has changed it; a change of other fields is no conflict.
    private func save(
        _ value: Value,
        _ state: ValueEditorPage.State,
        _ current: ValueEditorPage.State
    ) async throws(StatusError) -> FormResult {
        guard current.base == state.base || current.shown == state.shown else {
            var conflict = current
            (conflict.row, conflict.isConflict) = (state.row, true)
            return .page(ValueEditorPage(conflict))
        }
        let url = AdminURL.document(state.document)
        guard value != current.shown else { return .redirect(to: url, flash: .unchanged) }
        do throws(StatusError) {
            let document = try await GetDocument.document(.init(path: state.document), in: context)
            let fields = try document.decoded().fields
            guard DocumentRevision(document) == current.base, let location = ElementLocation(state.path, in: fields) else {
                throw StatusError(.failedPrecondition, "The document has changed.", path: state.document.string)
            }
            let write = try Write.set(
                state.document,
                location.replacing(value, in: fields),
                precondition: current.base.precondition
            )
            let result = try await SetDocument.call(write, in: context)
            let undo = current.base.updateTime.map { Flash.Undo(version: $0, current: result.updateTime) }
            return .redirect(to: url, flash: .saved(undo))
        } catch {
            guard error.code == .failedPrecondition || error.code == .invalidArgument else { throw error }
            // The document has changed since it was read for this request, or the value makes it invalid.
            var rejected = state
            rejected.problems.add(
                error.code == .invalidArgument
                    ? error.formMessage
                    : localized("The document has just been changed. Save again to see whether this value was.")
            )
            return .page(ValueEditorPage(rejected))
        }
    }
}
