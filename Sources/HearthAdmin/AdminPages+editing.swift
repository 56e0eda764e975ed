import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// The editor of a document that is there, and what its forms ask for.
    func edit(_ path: DocumentPath, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.writer)
            let target = EditTarget(path)
            guard let submission else {
                let document = try await GetDocument.call(.init(path: path), in: context)
                let frame = EditFrame(target, base: EditBase(document))
                let asJSON = request.items["edit"] == "json"
                return .page(try editor(frame, document: document, asJSON: asJSON))
            }
            guard let base = EditBase(submission.form["base"]) else { return .page(ProblemPage.unknownForm) }
            if submission.form["do"] == "resolve" { return try await resolve(submission, of: path, on: base) }
            return try await handle(submission, EditFrame(target, base: base)) { fields throws(StatusError) in
                try await save(fields, at: path, on: base)
            }
        }
    }

    /// The editor of a new document, and what its forms ask for.
    func create(in collection: CollectionPath, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.writer)
            let query = request.items
            guard let submission else {
                let copied = try await copied(from: query["from"], in: collection)
                let frame = EditFrame(
                    EditTarget(newIn: collection, id: query["id"].map { EditedText.line($0.string) } ?? ""),
                    base: EditBase(nil)
                )
                let rows = copied.map { EditedRows($0) } ?? EditedRows(newDocument: ())
                let isLarge = rows.rows.count > EditedRows.limit
                guard query["new"] == "json" || isLarge else { return .page(EditFieldsPage(frame, rows: rows)) }
                return .page(EditJSONPage(frame, text: EditJSONPage.text(of: copied ?? [:]), isTooLarge: isLarge))
            }
            let target = EditTarget(newIn: collection, id: submission.form["id"]?.string ?? "")
            let frame = EditFrame(target, base: EditBase(nil))
            return try await handle(submission, frame) { fields throws(StatusError) in
                try await create(fields, target)
            }
        }
    }

    /// Asks for the name of a new collection, and leads to the editor of its first document.
    func newCollection(for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.writer)
            guard let submission else { return .page(NewCollectionPage()) }
            let typed = submission.form.text("collection")
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            do throws(StatusError) {
                let path = try CollectionPath(EditedText.string(ofLine: typed) ?? typed)
                if problems.isEmpty { return .done(at: EditTarget(newIn: path).url(asJSON: false), nil) }
            } catch {
                problems.add(error.message, at: "collection")
            }
            return .page(NewCollectionPage(typed: typed, problems: problems))
        }
    }

    /// The fields of the document that a new one begins as a copy of.
    private func copied(from id: UTF8Key?, in collection: CollectionPath) async throws(StatusError) -> MapValue? {
        guard let id else { return nil }
        let path = collection.document(try DocumentID(id.string))
        return try await GetDocument.call(.init(path: path), in: context).decoded().fields
    }

    private func editor(_ frame: EditFrame, document: EncodedDocument, asJSON: Bool) throws(StatusError) -> any Page {
        let fields = try document.decoded().fields
        let rows = EditedRows(document, fields: fields)
        if let rows, !asJSON { return EditFieldsPage(frame, rows: rows) }
        return EditJSONPage(frame, text: EditJSONPage.text(of: fields), isTooLarge: rows == nil && !asJSON)
    }
}

/// What saving came to.
enum SaveOutcome {
    case answer(AdminPages.FormAnswer)
    /// What was typed can't be saved, and why.
    case refused(FormProblems)
}

extension AdminPages {
    /// Does what a form of one of the editors asks for.
    private func handle(
        _ submission: Submission,
        _ frame: EditFrame,
        save: (MapValue) async throws(StatusError) -> SaveOutcome
    ) async throws(StatusError) -> FormAnswer {
        var frame = frame
        if submission.isStale { frame.problems = .stale }
        let form = submission.form
        let action = submission.isStale ? "" : form["do"] ?? "save"
        return switch form["as"] {
        case "json": try await handleJSON(form["json"]?.string ?? "", action, frame, save: save)
        default:
            if let rows = EditedRows(form) {
                try await handle(rows, action, frame, save: save)
            } else {
                .page(ProblemPage.unknownForm)
            }
        }
    }

    private func handle(
        _ rows: EditedRows,
        _ action: UTF8Key,
        _ frame: EditFrame,
        save: (MapValue) async throws(StatusError) -> SaveOutcome
    ) async throws(StatusError) -> FormAnswer {
        var (rows, frame) = (rows, frame)
        guard action == "save" || action == "json" else {
            rows.apply(action)
            return .page(EditFieldsPage(frame, rows: rows))
        }
        guard let fields = rows.fields(noting: &frame.problems) else { return .page(EditFieldsPage(frame, rows: rows)) }
        if action == "json" { return .page(EditJSONPage(frame, text: EditJSONPage.text(of: fields))) }
        switch try await save(fields) {
        case .answer(let answer): return answer
        case .refused(let problems):
            frame.problems = problems
            return .page(EditFieldsPage(frame, rows: rows))
        }
    }

    private func handleJSON(
        _ text: String,
        _ action: UTF8Key,
        _ frame: EditFrame,
        save: (MapValue) async throws(StatusError) -> SaveOutcome
    ) async throws(StatusError) -> FormAnswer {
        var frame = frame
        guard action == "save" || action == "fields" else { return .page(EditJSONPage(frame, text: text)) }
        let fields: MapValue
        do throws(TypedJSON.Failure) {
            fields = try TypedJSON.fields(text)
        } catch {
            frame.problems.add(error.message, at: "json")
            let fault = error.place.map { EditJSONPage.Fault(in: text, line: $0.line, column: $0.column) }
            return .page(EditJSONPage(frame, text: text, fault: fault))
        }
        if action == "fields" {
            let rows = EditedRows(fields)
            guard rows.rows.count <= EditedRows.limit else { return .page(EditJSONPage(frame, text: text, isTooLarge: true)) }
            return .page(EditFieldsPage(frame, rows: rows))
        }
        switch try await save(fields) {
        case .answer(let answer): return answer
        case .refused(let problems):
            frame.problems = problems
            return .page(EditJSONPage(frame, text: text))
        }
    }
}

extension AdminPages {
    private func create(_ fields: MapValue, _ target: EditTarget) async throws(StatusError) -> SaveOutcome {
        var problems = FormProblems()
        do throws(StatusError) {
            let id =
                target.id.utf8.isEmpty
                ? DocumentID.automatic() : try DocumentID(EditedText.string(ofLine: target.id) ?? target.id)
            let path = target.collection.document(id)
            _ = try await SetDocument.call(.create(path, fields), in: context)
            return .answer(.done(at: AdminURL.document(path), .created))
        } catch {
            switch error.code {
            case .alreadyExists:
                problems.add(localized("There is a document with this ID already. Choose another, or none."), at: "id")
            case .invalidArgument where error.field == nil && error.path == nil: problems.add(error.message, at: "id")
            case .invalidArgument: problems.add(error.forForm)
            default: throw error
            }
            return .refused(problems)
        }
    }

    private func save(_ fields: MapValue, at path: DocumentPath, on base: EditBase) async throws(StatusError) -> SaveOutcome {
        let current = try await context.store.document(at: path)
        guard EditBase(current) == base else { return .answer(.page(try await conflict(at: path, base, current, fields))) }
        if let current, try current.decoded().fields == fields {
            return .answer(.done(at: AdminURL.document(path), .unchanged))
        }
        do throws(StatusError) {
            let result = try await SetDocument.call(.set(path, fields, precondition: base.precondition), in: context)
            let undo = current.map { Flash.Undo(version: $0.updateTime, current: result.updateTime) }
            return .answer(.done(at: AdminURL.document(path), .saved(undo)))
        } catch {
            switch error.code {
            case .failedPrecondition, .notFound, .alreadyExists:
                return .answer(.page(try await conflict(at: path, base, try await context.store.document(at: path), fields)))
            case .invalidArgument:
                var problems = FormProblems()
                problems.add(error.forForm)
                return .refused(problems)
            default: throw error
            }
        }
    }

    /// The page of a document that is no longer as it was given to be edited.
    private func conflict(
        at path: DocumentPath,
        _ base: EditBase,
        _ theirs: EncodedDocument?,
        _ yours: MapValue
    ) async throws(StatusError) -> ConflictPage {
        ConflictPage(try await conflictOf(path, base, theirs, yours), now: surroundings.now())
    }

    private func conflictOf(
        _ path: DocumentPath,
        _ base: EditBase,
        _ theirs: EncodedDocument?,
        _ yours: MapValue
    ) async throws(StatusError) -> ConflictPage.Conflict {
        ConflictPage.Conflict(
            path: path,
            base: base,
            before: try await base.updateTime.asyncFlatMap { time throws(StatusError) in
                try await version(of: path, at: time)?.decoded().fields
            },
            theirs: theirs,
            theirFields: try theirs?.decoded().fields ?? [:],
            yours: yours
        )
    }

    /// Writes what was chosen of two versions, unless a third has come meanwhile.
    private func resolve(
        _ submission: Submission,
        of path: DocumentPath,
        on base: EditBase
    ) async throws(StatusError) -> FormAnswer {
        let form = submission.form
        guard let known = EditBase(form["theirs"]), let yours = try? TypedJSON.fields(form["yours"]?.string ?? "") else {
            return .page(ProblemPage.unknownForm)
        }
        let current = try await context.store.document(at: path)
        let conflict = try await conflictOf(path, base, current, yours)
        guard !submission.isStale, EditBase(current) == known else {
            return .page(ConflictPage(conflict, now: surroundings.now()))
        }
        let merge = conflict.merge
        let choices = merge.places.indices.map { form[UTF8Key("c\($0)")].flatMap { ThreeWayMerge.Side(rawValue: $0.string) } }
        guard choices.allSatisfy({ $0 != nil }) || current == nil else {
            return .page(ConflictPage(conflict, choices: choices, isIncomplete: true, now: surroundings.now()))
        }
        let fields = current == nil ? yours : try merge.merged(choices.compactMap(\.self))
        switch try await save(fields, at: path, on: known) {
        case .answer(let answer): return answer
        case .refused(let problems):
            let frame = EditFrame(EditTarget(path), base: known, problems: problems)
            return .page(EditJSONPage(frame, text: EditJSONPage.text(of: fields)))
        }
    }

    /// The version of a document that a commit of this time made; nil when it isn't kept.
    func version(of path: DocumentPath, at time: Timestamp) async throws(StatusError) -> EncodedDocument? {
        guard let end = try? Timestamp(microseconds: time.microseconds + 1) else { return nil }
        let page = try await DocumentHistory.call(.init(path: path, pageSize: 1, before: end), in: context)
        return page.versions.first?.document.flatMap { $0.updateTime == time ? $0 : nil }
    }
}

extension StatusError {
    /// What it says, with the field that it is about.
    var forForm: String {
        field.map { "\($0): \(message)" } ?? message
    }
}

extension Optional where Wrapped: Sendable {
    fileprivate func asyncFlatMap<Result: Sendable>(
        _ transform: (Wrapped) async throws(StatusError) -> Result?
    ) async throws(StatusError) -> Result? {
        if let self { try await transform(self) } else { nil }
    }
}

extension EditedRows {
    /// One row for the first field of a new document.
    fileprivate init(newDocument: Void) {
        self.init([:])
        apply("add")
    }
}
