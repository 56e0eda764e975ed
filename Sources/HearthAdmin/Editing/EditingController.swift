import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The result of saving a form of the editor.
private enum SaveResult {
    case completed(FormResult)
    /// The input is invalid.
    case rejected(FormProblems)

    /// Returns the result of the form.
    ///
    /// - Parameter page: Returns the editor with the rejected input.
    func formResult(rejectedOn page: (FormProblems) -> any Page) -> FormResult {
        switch self {
        case .completed(let result): result
        case .rejected(let problems): .page(page(problems))
        }
    }
}

/// The controller for the document editors.
struct EditingController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Handles the editor of an existing document and its forms.
    func edit(_ path: DocumentPath) async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.writer)
            var target = EditTarget(path)
            target.next = request.query["next"].map { ReturnURL($0) }
            guard let submission else {
                // Taken before reading, so that the page is told of each change.
                let position = try await context.safePosition()
                let document = try await GetDocument.document(.init(path: path), in: context)
                var editor = EditorContext(target, base: DocumentRevision(document))
                editor.liveToken = LiveStreamURL.token(of: path, at: position)
                return .page(try editorPage(editor, document: document, asJSON: request.query["edit"] == "json"))
            }
            guard let base = DocumentRevision(submission.form["base"]) else { return .page(ErrorPage.invalidForm) }
            if submission.form["do"] == "resolve" { return try await resolve(submission, of: target, at: path, on: base) }
            return try await handle(submission, EditorContext(target, base: base)) { fields throws(StatusError) in
                try await save(fields, target, at: path, on: base, FormCommit(submission.form))
            }
        }
    }

    /// Handles the editor of a new document and its forms.
    func create(in collection: CollectionPath) async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.writer)
            let query = request.query
            guard let submission else {
                let copiedFields = try await fields(copiedFrom: query["from"], in: collection)
                let editor = EditorContext(
                    EditTarget(newIn: collection, id: query["id"].map { FormTextCoding.encodeLine($0.string) } ?? ""),
                    base: DocumentRevision(nil)
                )
                let rows = copiedFields.map { EditorRows($0) } ?? EditorRows(newDocument: ())
                let isTooLarge = rows.rows.count > EditorRows.openLimit
                guard query["new"] == "json" || isTooLarge else { return .page(FieldEditorPage(editor, rows: rows)) }
                let text = JSONEditorPage.text(of: copiedFields ?? [:])
                return .page(JSONEditorPage(editor, text: text, isTooLarge: isTooLarge))
            }
            let target = EditTarget(newIn: collection, id: submission.form["id"]?.string ?? "")
            return try await handle(submission, EditorContext(target, base: DocumentRevision(nil))) {
                fields throws(StatusError) in
                try await create(fields, target, FormCommit(submission.form))
            }
        }
    }

    /// Handles the form for the ID of a new collection or subcollection. It redirects to the editor of the first document.
    func newCollection() async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.writer)
            let parent: DocumentPath? = if let below = request.query["below"] { try DocumentPath(below.string) } else { nil }
            guard let submission else { return .page(NewCollectionPage(below: parent)) }
            let input = submission.form.text("collection")
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            do throws(StatusError) {
                let text = FormTextCoding.decodeLine(input) ?? input
                // The path of the subcollection may exceed a limit, too.
                let path = try CollectionPath(parent?.collection(try CollectionID(text)).string ?? text)
                if problems.isEmpty { return .redirect(to: EditTarget(newIn: path).url(asJSON: false)) }
            } catch {
                problems.add(error.message, at: "collection")
            }
            return .page(NewCollectionPage(below: parent, input: input, problems: problems))
        }
    }

    private func fields(copiedFrom id: UTF8Key?, in collection: CollectionPath) async throws(StatusError) -> MapValue? {
        guard let id else { return nil }
        let path = collection.document(try DocumentPath.ID(id.string))
        return try await GetDocument.document(.init(path: path), in: context).decoded().fields
    }

    private func editorPage(
        _ editor: EditorContext,
        document: EncodedDocument,
        asJSON: Bool
    ) throws(StatusError) -> any Page {
        let fields = try document.decoded().fields
        var rows = EditorRows(document, fields: fields)
        if let location = request.query["at"].flatMap({ ElementLocation($0.string, in: fields) }) { rows?.focus(location) }
        if let rows, !asJSON { return FieldEditorPage(editor, rows: rows) }
        return JSONEditorPage(editor, text: JSONEditorPage.text(of: fields), isTooLarge: rows == nil && !asJSON)
    }
}

extension EditorRows {
    /// The rows of a new document: one empty field.
    fileprivate init(newDocument: Void) {
        self.init([:])
        apply("add")
    }
}

// The forms of both editors.
extension EditingController {
    private func handle(
        _ submission: FormSubmission,
        _ editor: EditorContext,
        save: (MapValue) async throws(StatusError) -> SaveResult
    ) async throws(StatusError) -> FormResult {
        var editor = editor
        if submission.isStale { editor.problems = .stale }
        let form = submission.form
        editor.liveToken = form["live"]
        let action = submission.isStale ? "" : form["do"] ?? "save"
        return switch form["as"] {
        case "json": try await handleJSON(form["json"]?.string ?? "", action, editor, save: save)
        default:
            if let rows = EditorRows(form) {
                action == "paste"
                    ? .page(paste(form["paste"]?.string ?? "", into: rows, editor))
                    : try await handle(rows, action, editor, save: save)
            } else {
                .page(ErrorPage.invalidForm)
            }
        }
    }

    private func handle(
        _ rows: EditorRows,
        _ action: UTF8Key,
        _ editor: EditorContext,
        save: (MapValue) async throws(StatusError) -> SaveResult
    ) async throws(StatusError) -> FormResult {
        var (rows, editor) = (rows, editor)
        if let number = rows.referenceRow(of: action) {
            let suggestions = await ReferenceSuggestions(for: rows.rows[number].text, in: editor.target.collection, for: request)
            rows.suggest(suggestions.paths, at: number)
            return .page(FieldEditorPage(editor, rows: rows))
        }
        guard action == "save" || action == "json" else {
            if !rows.apply(action) {
                editor.problems.add(
                    localized(
                        "This editor supports at most {count} fields. Edit the document as JSON to add more; your input is kept.",
                        ["count": NumberFormat.grouped(EditorRows.maximumCount)]
                    ),
                    at: "as-json"
                )
            }
            return .page(FieldEditorPage(editor, rows: rows))
        }
        guard let fields = rows.fields(addingTo: &editor.problems) else { return .page(FieldEditorPage(editor, rows: rows)) }
        if action == "json" { return .page(JSONEditorPage(editor, text: JSONEditorPage.text(of: fields))) }
        return try await save(fields).formResult { FieldEditorPage(editor.with($0), rows: rows) }
    }

    /// Returns the editor with the fields of a JSON object in place of its rows.
    private func paste(_ text: String, into rows: EditorRows, _ editor: EditorContext) -> any Page {
        var editor = editor
        do throws(JSONInput.InvalidInput) {
            let pasted = EditorRows(try JSONInput.fields(text))
            return pasted.rows.count <= EditorRows.openLimit
                ? FieldEditorPage(editor, rows: pasted) : JSONEditorPage(editor, text: text, isTooLarge: true)
        } catch {
            let place = error.location.map {
                localized("Line {line}, column {column}:", ["line": "\($0.line)", "column": "\($0.column)"]) + " "
            }
            editor.problems.add((place ?? "") + error.message, at: "paste")
            return FieldEditorPage(editor, rows: rows, pastedText: text)
        }
    }

    private func handleJSON(
        _ text: String,
        _ action: UTF8Key,
        _ editor: EditorContext,
        save: (MapValue) async throws(StatusError) -> SaveResult
    ) async throws(StatusError) -> FormResult {
        var editor = editor
        guard action == "save" || action == "fields" else { return .page(JSONEditorPage(editor, text: text)) }
        let fields: MapValue
        do throws(JSONInput.InvalidInput) {
            fields = try JSONInput.fields(text)
        } catch {
            editor.problems.add(error.message, at: "json")
            let excerpt = error.location.map { JSONEditorPage.ErrorExcerpt(in: text, line: $0.line, column: $0.column) }
            return .page(JSONEditorPage(editor, text: text, errorExcerpt: excerpt))
        }
        if action == "fields" {
            let rows = EditorRows(fields)
            guard rows.rows.count <= EditorRows.openLimit else {
                return .page(JSONEditorPage(editor, text: text, isTooLarge: true))
            }
            return .page(FieldEditorPage(editor, rows: rows))
        }
        return try await save(fields).formResult { JSONEditorPage(editor.with($0), text: text) }
    }
}

// Saving.
extension EditingController {
    private func create(
        _ fields: MapValue,
        _ target: EditTarget,
        _ commit: FormCommit
    ) async throws(StatusError) -> SaveResult {
        var problems = FormProblems()
        do throws(StatusError) {
            let id =
                target.id.utf8.isEmpty
                ? commit.documentID(for: fields, in: target.collection)
                : try DocumentPath.ID(FormTextCoding.decodeLine(target.id) ?? target.id)
            let path = target.collection.document(id)
            let write = Write.create(path, fields)
            _ = try await context.apply(write, onceFor: commit.key)
            return .completed(.redirect(to: AdminURL.document(path), flash: .created))
        } catch {
            switch error.code {
            case .alreadyExists:
                problems.add(localized("A document with this ID already exists. Choose another ID or leave it empty."), at: "id")
            case .invalidArgument where error.field == nil && error.path == nil: problems.add(error.message, at: "id")
            case .invalidArgument: problems.add(error.formMessage)
            default: throw error
            }
            return .rejected(problems)
        }
    }

    /// Writes an edited document if it still has the base revision; otherwise, returns the conflict page.
    private func save(
        _ fields: MapValue,
        _ target: EditTarget,
        at path: DocumentPath,
        on base: DocumentRevision,
        _ commit: FormCommit
    ) async throws(StatusError) -> SaveResult {
        let current = try await context.document(at: path)
        let isUnchanged = DocumentRevision(current) == base
        // Another update time fails, unless it is that of the same form. An edit of the file does not change it.
        guard isUnchanged || current?.updateTime != base.updateTime else {
            return .completed(.page(try await conflictPage(at: path, target, base, current, fields)))
        }
        if isUnchanged, let current, try current.decoded().fields == fields {
            return .completed(.redirect(to: target.returnURL, flash: .unchanged))
        }
        do throws(StatusError) {
            let write = try Write.set(path, fields, precondition: base.precondition)
            let result = try await context.apply(write, onceFor: commit.key)
            let undo = base.updateTime.flatMap { Flash.Undo(version: $0, current: result.updateTime, of: path, on: target.next) }
            return .completed(.redirect(to: target.returnURL, flash: .saved(undo)))
        } catch {
            switch error.code {
            case .failedPrecondition, .notFound, .alreadyExists:
                let current = try await context.document(at: path)
                return .completed(.page(try await conflictPage(at: path, target, base, current, fields)))
            case .invalidArgument:
                var problems = FormProblems()
                problems.add(error.formMessage)
                return .rejected(problems)
            default: throw error
            }
        }
    }

    private func conflictPage(
        at path: DocumentPath,
        _ target: EditTarget,
        _ base: DocumentRevision,
        _ theirs: EncodedDocument?,
        _ yours: MapValue
    ) async throws(StatusError) -> ConflictPage {
        ConflictPage(try await conflict(at: path, base, theirs, yours), target, now: request.now)
    }

    private func conflict(
        at path: DocumentPath,
        _ base: DocumentRevision,
        _ theirs: EncodedDocument?,
        _ yours: MapValue
    ) async throws(StatusError) -> ConflictPage.Conflict {
        var baseFields: MapValue?
        if let time = base.updateTime { baseFields = try await context.version(of: path, at: time)?.decoded().fields }
        return ConflictPage.Conflict(
            path: path,
            base: base,
            baseFields: baseFields,
            theirs: theirs,
            theirFields: try theirs?.decoded().fields ?? [:],
            yours: yours
        )
    }

    /// Writes the merged document, unless it has changed again since the conflict page was shown.
    private func resolve(
        _ submission: FormSubmission,
        of target: EditTarget,
        at path: DocumentPath,
        on base: DocumentRevision
    ) async throws(StatusError) -> FormResult {
        let form = submission.form
        guard let theirs = DocumentRevision(form["theirs"]), let yours = try? JSONInput.fields(form["yours"]?.string ?? "") else {
            return .page(ErrorPage.invalidForm)
        }
        let current = try await context.document(at: path)
        let conflict = try await conflict(at: path, base, current, yours)
        guard !submission.isStale, DocumentRevision(current) == theirs else {
            return .page(ConflictPage(conflict, target, now: request.now))
        }
        let merge = conflict.merge
        let choices = merge.differences.indices.map {
            form[UTF8Key("c\($0)")].flatMap { ThreeWayMerge.Side(rawValue: $0.string) }
        }
        guard choices.allSatisfy({ $0 != nil }) || current == nil else {
            return .page(ConflictPage(conflict, target, choices: choices, isIncomplete: true, now: request.now))
        }
        let fields = current == nil ? yours : try merge.merged(choosing: choices.compactMap(\.self))
        return try await save(fields, target, at: path, on: theirs, FormCommit(form)).formResult { problems in
            let editor = EditorContext(target, base: theirs, problems: problems)
            return JSONEditorPage(editor, text: JSONEditorPage.text(of: fields))
        }
    }
}
