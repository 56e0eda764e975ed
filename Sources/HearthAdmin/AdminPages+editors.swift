import DocumentModel
import HearthService
import StrictJSON

/// What saving came to.
enum SaveOutcome {
    case answer(AdminPages.FormAnswer)
    /// What was typed can't be saved, and why.
    case refused(FormProblems)

    /// The answer to the form.
    ///
    /// - Parameter page: The page on which what was typed is shown again.
    func answer(refusedBy page: (FormProblems) -> any Page) -> AdminPages.FormAnswer {
        switch self {
        case .answer(let answer): answer
        case .refused(let problems): .page(page(problems))
        }
    }
}

extension AdminPages {
    /// Does what a form of one of the editors asks for.
    func handle(
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
            if !rows.apply(action) {
                frame.problems.add(
                    localized(
                        "No more than {count} fields fit into this editor. Edit the document as JSON to add more: what you typed goes with you.",
                        ["count": Counting.grouped(EditedRows.maximumCount)]
                    ),
                    at: "as-json"
                )
            }
            return .page(EditFieldsPage(frame, rows: rows))
        }
        guard let fields = rows.fields(noting: &frame.problems) else { return .page(EditFieldsPage(frame, rows: rows)) }
        if action == "json" { return .page(EditJSONPage(frame, text: EditJSONPage.text(of: fields))) }
        return try await save(fields).answer { EditFieldsPage(frame.with($0), rows: rows) }
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
        return try await save(fields).answer { EditJSONPage(frame.with($0), text: text) }
    }
}
