import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for changing one field of many documents.
struct BulkEditController {
    let request: AdminRequest
    let jobRunner: JobRunner

    private var context: ServiceContext { request.context }

    /// The documents of a form, and how a job reads them.
    private struct Target {
        let subject: BulkEditPage.Subject
        let collection: CollectionPath
        /// The subject of the job.
        let name: String
        let returnURL: String
        let count: Int
        let edit: @Sendable (BulkEditJob, _ shownTime: Timestamp) async throws(StatusError) -> Void
    }

    /// Handles the forms for selected documents, for those that match filters, and for all documents of a collection.
    func edit(_ collection: CollectionPath) async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.writer)
            try context.caller.requireAccess(to: collection)
            // Taken before counting, so that the form does not cover writes during the count.
            let shownTime = try await ReadConsistency().resolvedReadTime(in: context)
            if request.query["edit"] == "found" {
                let target = try await target(matching: CollectionRequest(path: collection, query: request.query))
                guard let target else { return .page(ErrorPage.notFound) }
                return try await handle(submission, target, shownTime: shownTime)
            }
            guard let submission else { return .redirect(to: AdminURL.collection(collection)) }
            guard submission.form.has("row") else {
                return .redirect(to: AdminURL.collection(collection), flash: .nothingSelected)
            }
            guard let documents = try SelectedDocument.rows(of: submission.form, in: collection) else {
                return .page(ErrorPage.invalidForm)
            }
            return try await handle(submission, target(of: documents, in: collection), shownTime: shownTime)
        }
    }

    private func target(of documents: [SelectedDocument], in collection: CollectionPath) -> Target {
        Target(
            subject: .selection(documents, in: collection),
            collection: collection,
            name: collection.string,
            returnURL: AdminURL.collection(collection),
            count: documents.count
        ) { job, shownTime throws(StatusError) in
            let new = documents.filter { $0.updateTime > shownTime }
            job.job.update { progress in for document in new { progress.keptPaths.append(document.path) } }
            try await job.edit(documents.filter { $0.updateTime <= shownTime })
        }
    }

    /// Returns the documents that match the filters of a request; `nil` if it has a sort order, which would exclude documents without
    /// the page mentioning it.
    private func target(matching request: CollectionRequest) async throws(StatusError) -> Target? {
        guard request.orders.isEmpty else { return nil }
        let query: NormalizedQuery
        do throws(CollectionQuery.ValidationError) {
            query = try CollectionQuery(request).query
        } catch {
            throw StatusError(.invalidArgument, error.message)
        }
        let estimate = try await DocumentCountEstimate(of: query, in: context)
        return Target(
            subject: .matching(request, estimate),
            collection: request.path,
            name: request.subject,
            returnURL: request.url(),
            count: estimate.count
        ) { job, shownTime throws(StatusError) in
            // As of that time: documents that the job has changed may match the filters anew.
            try await job.edit(DocumentPager(request, matching: query, at: shownTime, in: job.context))
        }
    }

    private func handle(
        _ submission: FormSubmission?,
        _ target: Target,
        shownTime: Timestamp
    ) async throws(StatusError) -> FormResult {
        let form = submission.flatMap { $0.form.has("confirmed") ? $0.form : nil }
        let input = form.map(FieldChangeInput.init) ?? FieldChangeInput()
        var problems = submission?.isStale == true ? FormProblems.stale : FormProblems()
        let fields = await fields(of: target.collection)
        guard let form, problems.isEmpty else {
            return .page(BulkEditPage(target.subject, at: shownTime, fields: fields, input: input, problems: problems))
        }
        guard let confirmedTime = Timestamp(formValue: form["at"]), confirmedTime <= shownTime else {
            return .page(ErrorPage.invalidForm)
        }
        let change = await input.change(addingTo: &problems) { field in
            await FieldTypes(of: field, in: .collection(target.collection), for: request)
        }
        let page = BulkEditPage(target.subject, at: shownTime, fields: fields, input: input, problems: problems)
        guard let change else { return .page(page) }
        do throws(JobRunner.StartError) {
            return try await jobRunner.start(
                .editing,
                of: target.name,
                for: request,
                returnURL: target.returnURL,
                totalCount: target.count
            ) { job in
                .editedMany(job.progress.completedCount, undo: job.undoID)
            } _: { [context, edit = target.edit] job throws(StatusError) in
                try await edit(BulkEditJob(context: context, job: job, change: change), confirmedTime)
            }
        } catch {
            return .page(page.withError(error))
        }
    }

    /// Returns the fields of the first documents of a collection, to suggest them.
    private func fields(of collection: CollectionPath) async -> [FieldPath] {
        let results = await request.resultIfPermitted { () async throws(StatusError) in
            let query = StructuredQuery(.collection(collection), limit: .first(Self.sampleSize))
            return try await RunQuery.call(.init(NormalizedQuery(query)), in: context)
        }
        let documents = (results?.documents ?? []).compactMap { try? $0.decoded() }
        let limit = Self.maximumSuggestionCount
        return Array(CollectionColumns.fields(of: documents, limit: limit).prefix(limit))
    }

    private static let sampleSize = 50
    private static let maximumSuggestionCount = 100
}
