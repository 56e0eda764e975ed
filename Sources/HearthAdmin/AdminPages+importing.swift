import DocumentModel
import DocumentStore
import HTTPTypes
import HearthService
import StrictJSON

extension AdminPages {
    /// Takes files of documents: first they are checked, then they can be imported.
    func importing(for request: PageRequest) async -> PageResponse {
        if case .failure(let fault)? = request.upload { return await refuse(fault) }
        return await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.writer)
            let query = request.items
            guard let submission else {
                guard let id = query["upload"] else {
                    let collection = EditedText.line(query["collection"]?.string ?? "")
                    return .page(ImportPage(typed: ImportPage.Typed(collection: collection)))
                }
                return await check(id)
            }
            let form = submission.form
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            if problems.isEmpty, let id = form["upload"] {
                return await runImport(id, existing: form["existing"].flatMap { .init(rawValue: $0.string) } ?? .replace)
            }
            let typed = typedImport(form)
            let plan = plan(typed, noting: &problems)
            if form.file == nil { problems.add(localized("Choose a file."), at: "file") }
            guard let file = form.file, problems.isEmpty else { return .page(ImportPage(typed: typed, problems: problems)) }
            let upload = Uploads.Upload(
                id: UTF8Key(Nonce.make()),
                visitor: formName,
                database: context.databaseName,
                file: file,
                plan: plan
            )
            guard uploads.keep(upload) else {
                problems.add(Self.noRoomText, at: "file")
                return .page(ImportPage(typed: typed, problems: problems, status: .tooManyRequests))
            }
            // From that page it is tried again where it can't begin now; the file is here.
            return (try? await beginCheck(upload)) ?? .done(at: Self.url(of: upload), nil)
        }
    }

    private func typedImport(_ form: Form) -> ImportPage.Typed {
        ImportPage.Typed(
            collection: form.text("collection"),
            idField: form["id"]?.string ?? "",
            format: form["format"].flatMap { ImportFormat(rawValue: $0.string) } ?? .automatic,
            keepsTexts: form.has("texts")
        )
    }

    private func plan(_ typed: ImportPage.Typed, noting problems: inout FormProblems) -> ImportPlan {
        var plan = ImportPlan(format: typed.format, keepsTexts: typed.keepsTexts)
        if !typed.collection.utf8.isEmpty {
            do throws(StatusError) {
                plan.collection = try CollectionPath(EditedText.string(ofLine: typed.collection) ?? typed.collection)
            } catch {
                problems.add(error.message, at: "collection")
            }
        }
        if !typed.idField.utf8.isEmpty { plan.idField = UTF8Key(EditedText.string(ofLine: typed.idField) ?? typed.idField) }
        return plan
    }

    private static var noRoomText: String {
        localized(
            "Other files that are being imported take all the room there is for them. Try again when they are done, or import the file by the command hearth import."
        )
    }

    /// Says why a form with a file isn't taken.
    private func refuse(_ fault: UploadReader.Fault) async -> PageResponse {
        var problems = FormProblems()
        switch fault {
        case .tooLarge:
            let size = Counting.grouped(ImportFile.maximumBytes >> 20)
            problems.add(
                localized(
                    "The file is larger than {size} MiB. Compress or divide it, or import it by the command hearth import.",
                    ["size": size]
                ),
                at: "file"
            )
            return await respond(with: ImportPage(problems: problems, status: .contentTooLarge))
        case .noRoom:
            problems.add(Self.noRoomText, at: "file")
            return await respond(with: ImportPage(problems: problems, status: .tooManyRequests))
        case .malformed: return await respond(with: ProblemPage.unknownForm)
        case .failed(let error): return await respond(to: error)
        }
    }
}

extension AdminPages {
    /// The page of what is in a file; the file is checked first where that was not done or came to no end.
    private func check(_ id: UTF8Key) async -> FormAnswer {
        guard let upload = uploads.upload(id, for: formName, in: context.databaseName) else { return .page(Self.lostPage) }
        if let check = upload.check { return .page(ImportPage(found: .init(upload, check))) }
        if let id = upload.checkWork, let work = works.work(id, for: context.caller, in: upload.database), !work.progress.isOver {
            return .done(at: AdminURL.work(work.id), nil)
        }
        do throws(Works.Refusal) {
            return try await beginCheck(upload)
        } catch {
            var problems = error.problems
            problems.add(localized("The file is kept: load this page again to have it checked."))
            return .page(ImportPage(problems: problems, status: error.status))
        }
    }

    private static func url(of upload: Uploads.Upload) -> String {
        "\(AdminURL.importing)?upload=\(PercentEncoding.encode(upload.id))"
    }

    private static var lostPage: ImportPage {
        var problems = FormProblems()
        problems.add(localized("The file is no longer here. Choose it again."), at: "file")
        return ImportPage(problems: problems)
    }

    private func beginCheck(_ upload: Uploads.Upload) async throws(Works.Refusal) -> FormAnswer {
        var upload = upload
        let work = UTF8Key(Nonce.make())
        upload.checkWork = work
        uploads.note(upload)
        return try await begin(.checking, of: upload.file.name.string, id: work, backURL: Self.url(of: upload)) { _ in
            nil
        } _: { [context, uploads, upload] work throws(StatusError) in
            var checked = upload
            checked.check = try await ImportCheck.check(upload, in: context, by: work)
            if !work.isStopping { uploads.note(checked) }
        }
    }

    private func runImport(_ id: UTF8Key, existing: ImportRun.Existing) async -> FormAnswer {
        let work = UTF8Key(Nonce.make())
        let upload: Uploads.Upload
        switch uploads.take(id, for: formName, in: context.databaseName, work: work) {
        case .taken(let taken): upload = taken
        // Sent twice: the first one has it.
        case .begun(let work): return .done(at: AdminURL.work(work), nil)
        case .nothing: return .page(Self.lostPage)
        }
        let backURL = upload.plan.collection.map { AdminURL.collection($0) } ?? AdminURL.overview
        do throws(Works.Refusal) {
            return try await begin(.importing, of: upload.file.name.string, id: work, backURL: backURL) { progress in
                .imported(progress.done)
            } _: { [context] work throws(StatusError) in
                try await ImportRun(context: context, work: work, existing: existing).write(upload)
            }
        } catch {
            // Nothing was begun, so the file waits for another try.
            uploads.putBack(upload)
            let found = upload.check.map { ImportPage.Found(upload, $0) }
            return .page(ImportPage(problems: error.problems, found: found, status: error.status))
        }
    }
}
