import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import UTF8Text

/// The controller for the import of uploaded files.
struct ImportController {
    let request: AdminRequest
    let uploads: UploadStore
    let jobRunner: JobRunner

    private var context: ServiceContext { request.context }

    /// Handles the import page. One job previews an uploaded file; after confirmation, another one imports it.
    func respond() async -> PageResponse {
        if case .failure(let failure)? = request.http.upload { return await reject(failure) }
        return await request.respond { submission throws(StatusError) in
            try context.authorize(.writer)
            let query = request.query
            guard let submission else {
                guard let id = query["upload"] else {
                    let collection = FormTextCoding.encodeLine(query["collection"]?.string ?? "")
                    return .page(ImportPage(input: ImportPage.Input(collection: collection)))
                }
                return await preview(id)
            }
            let form = submission.form
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            if problems.isEmpty, let id = form["upload"] {
                return await startImport(id, existing: form["existing"].flatMap { .init(rawValue: $0.string) } ?? .replace)
            }
            let input = importInput(form)
            let options = options(input, addingTo: &problems)
            if form.file == nil { problems.add(localized("Choose a file, or paste documents."), at: "file") }
            guard let file = form.file, problems.isEmpty else { return .page(ImportPage(input: input, problems: problems)) }
            let upload = UploadStore.Upload(
                id: UTF8Key(RandomToken.make()),
                owner: request.formOwner,
                database: context.databaseName,
                file: file,
                options: options,
                pasted: input.pasted
            )
            guard uploads.add(upload) else {
                problems.add(Self.quotaExceededText, at: "file")
                return .page(ImportPage(input: input, problems: problems, status: .tooManyRequests))
            }
            // If the job cannot be started now, the page of the stored upload tries again.
            return (try? await startPreview(upload)) ?? .redirect(to: Self.url(of: upload))
        }
    }

    private func importInput(_ form: Form) -> ImportPage.Input {
        ImportPage.Input(
            collection: form.text("collection"),
            idField: form["id"]?.string ?? "",
            format: form["format"].flatMap { ImportFormat(rawValue: $0.string) } ?? .automatic,
            readsCellsAsStrings: form.has("texts"),
            pasted: form["pasted"]?.string ?? ""
        )
    }

    private func options(_ input: ImportPage.Input, addingTo problems: inout FormProblems) -> ImportOptions {
        var options = ImportOptions(format: input.format, readsCellsAsStrings: input.readsCellsAsStrings)
        if !input.collection.utf8.isEmpty {
            do throws(StatusError) {
                options.collection = try CollectionPath(FormTextCoding.decodeLine(input.collection) ?? input.collection)
            } catch {
                problems.add(error.message, at: "collection", label: localized("Collection"))
            }
        }
        if !input.idField.utf8.isEmpty {
            options.idField = UTF8Key(FormTextCoding.decodeLine(input.idField) ?? input.idField)
        }
        return options
    }

    private static var quotaExceededText: String {
        localized(
            "There is no disk space left for uploads. Try again when other imports have finished, or use the command hearth import."
        )
    }

    private func reject(_ failure: UploadReceiver.Failure) async -> PageResponse {
        var problems = FormProblems()
        switch failure {
        case .fileTooLarge:
            let size = NumberFormat.grouped(UploadedFile.maximumBytes >> 20)
            problems.add(
                localized(
                    "The file is larger than {size} MiB. Compress or split it, or use the command hearth import.",
                    ["size": size]
                ),
                at: "file"
            )
            return await request.respond(with: ImportPage(problems: problems, status: .contentTooLarge))
        case .quotaExceeded:
            problems.add(Self.quotaExceededText, at: "file")
            return await request.respond(with: ImportPage(problems: problems, status: .tooManyRequests))
        case .malformedForm: return await request.respond(with: ErrorPage.invalidForm)
        case .storageFailed(let error): return await request.respond(to: error)
        }
    }
}

// The jobs.
extension ImportController {
    /// Returns the preview of an upload. A missing preview is created by a job first.
    private func preview(_ id: UTF8Key) async -> FormResult {
        guard let upload = uploads.upload(id, for: request.formOwner, in: context.databaseName) else {
            return .page(Self.expiredPage)
        }
        if let preview = upload.preview {
            var problems = FormProblems()
            if preview.needsCollection {
                problems.add(
                    localized(
                        count: preview.itemErrors.count,
                        one: "{count} document has no path. Enter a collection, and check the file again.",
                        other: "{count} documents have no path. Enter a collection, and check the file again."
                    ),
                    at: "collection",
                    label: localized("Collection")
                )
            }
            let input = ImportPage.Input(upload)
            return .page(
                ImportPage(input: input, problems: problems, preview: PreviewedUpload(upload, preview), status: .ok)
            )
        }
        if let id = upload.previewJobID, let job = jobRunner.job(id, for: context.caller, in: upload.database),
            !job.progress.isFinished
        {
            return .redirect(to: AdminURL.job(job.id))
        }
        do throws(JobRunner.StartError) {
            return try await startPreview(upload)
        } catch {
            var problems = error.problems
            problems.add(localized("The file is kept. Reload this page to check it."))
            return .page(ImportPage(input: ImportPage.Input(upload), problems: problems, status: error.status))
        }
    }

    private static func url(of upload: UploadStore.Upload) -> String {
        "\(AdminURL.import)?upload=\(PercentEncoding.encode(upload.id))"
    }

    private static var expiredPage: ImportPage {
        var problems = FormProblems()
        problems.add(localized("The uploaded file has expired. Choose it again."), at: "file")
        return ImportPage(problems: problems)
    }

    private func startPreview(_ upload: UploadStore.Upload) async throws(JobRunner.StartError) -> FormResult {
        var upload = upload
        let jobID = UTF8Key(RandomToken.make())
        upload.previewJobID = jobID
        uploads.update(upload)
        return try await jobRunner.start(
            .checking,
            of: upload.file.name.string,
            id: jobID,
            for: request,
            returnURL: Self.url(of: upload)
        ) { _ in
            nil
        } _: { [context, uploads, upload] job throws(StatusError) in
            var previewed = upload
            previewed.preview = try await ImportPreview.make(of: upload, in: context, for: job)
            if !job.isCancelled { uploads.update(previewed) }
        }
    }

    private func startImport(_ id: UTF8Key, existing: ImportJob.ExistingDocuments) async -> FormResult {
        let jobID = UTF8Key(RandomToken.make())
        let upload: UploadStore.Upload
        switch uploads.claim(id, for: request.formOwner, in: context.databaseName, jobID: jobID) {
        case .claimed(let claimed): upload = claimed
        // The form was submitted twice.
        case .alreadyClaimed(let jobID): return .redirect(to: AdminURL.job(jobID))
        case .notFound: return .page(Self.expiredPage)
        }
        let returnURL = upload.options.collection.map { AdminURL.collection($0) } ?? AdminURL.overview
        do throws(JobRunner.StartError) {
            return try await jobRunner.start(
                .importing,
                of: upload.file.name.string,
                id: jobID,
                for: request,
                returnURL: returnURL,
                totalCount: upload.preview?.count
            ) { job in
                .imported(job.progress.completedCount)
            } _: { [context] job throws(StatusError) in
                try await ImportJob(context: context, job: job, existing: existing).write(upload)
            }
        } catch {
            uploads.releaseClaim(upload)
            let preview = upload.preview.map { PreviewedUpload(upload, $0) }
            return .page(
                ImportPage(
                    input: ImportPage.Input(upload),
                    problems: error.problems,
                    preview: preview,
                    status: error.status
                )
            )
        }
    }
}
