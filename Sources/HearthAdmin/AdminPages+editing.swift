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

extension EditedRows {
    /// One row for the first field of a new document.
    fileprivate init(newDocument: Void) {
        self.init([:])
        apply("add")
    }
}
