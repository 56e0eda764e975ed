import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for deleting documents and collections.
struct DeletionController {
    let request: AdminRequest
    let jobRunner: JobRunner

    private var context: ServiceContext { request.context }

    /// Handles the confirmation page for a document and its form. A document without subcollections is deleted
    /// immediately; otherwise, a background job is started.
    func delete(_ path: DocumentPath) async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.writer)
            let shownTime = try await ReadConsistency().resolvedReadTime(in: context)
            let current = try await context.document(at: path)
            if let submission, let result = await repeatedDeletion(of: path, current, submission) { return result }
            let below = try await Subtree(context: context).estimate(below: path)
            guard current != nil || !below.isEmpty else {
                throw StatusError(
                    .notFound,
                    "The document \(path.escapedString) does not exist and has no subcollections.",
                    path: path.string
                )
            }
            let subject = DeletePage.Subject.document(path, base: DocumentRevision(current), below: below)
            guard let submission else { return .page(DeletePage(subject, at: shownTime)) }
            guard let confirmedTime = Timestamp(formValue: submission.form["at"]) else { return .page(ErrorPage.invalidForm) }
            // A missing document has only its subcollections to delete.
            let deletesSubcollections = submission.form.has("below") || current == nil
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            if problems.isEmpty, DocumentRevision(submission.form["base"]) != DocumentRevision(current) { problems.addConflict() }
            guard problems.isEmpty else {
                return .page(DeletePage(subject, at: shownTime, problems: problems, deletesSubcollections: deletesSubcollections))
            }
            guard deletesSubcollections, !below.isEmpty else {
                return try await delete(path, current, subject, FormCommit(submission.form), at: shownTime)
            }
            return try await startDeletion(of: path.string, returnURL: AdminURL.document(path), shownTime: confirmedTime) {
                DeletePage(subject, at: shownTime, deletesSubcollections: true)
            } _: { deletion throws(StatusError) in
                if let current, try await deletion.delete([current])?.isEmpty ?? true { return }
                try await deletion.delete(below: [path])
            }
        }
    }

    /// Returns the answer to a form whose document was deleted, if the form itself has deleted it; otherwise `nil`.
    private func repeatedDeletion(
        of path: DocumentPath,
        _ current: EncodedDocument?,
        _ submission: FormSubmission
    ) async -> FormResult? {
        guard current == nil, !submission.isStale, let base = DocumentRevision(submission.form["base"]),
            let time = base.updateTime
        else { return nil }
        let write = Write.delete(path, precondition: base.precondition)
        guard (try? await context.apply(write, onceFor: FormCommit(submission.form).key)) != nil else {
            return nil
        }
        return .redirect(to: AdminURL.document(path), flash: .deleted(Flash.Undo(version: time, current: nil)))
    }

    private func delete(
        _ path: DocumentPath,
        _ current: EncodedDocument?,
        _ subject: DeletePage.Subject,
        _ commit: FormCommit,
        at shownTime: Timestamp
    ) async throws(StatusError) -> FormResult {
        do throws(StatusError) {
            let write = Write.delete(path, precondition: DocumentRevision(current).precondition)
            _ = try await context.apply(write, onceFor: commit.key)
        } catch {
            guard [.failedPrecondition, .notFound, .alreadyExists].contains(error.code) else { throw error }
            var problems = FormProblems()
            problems.addConflict()
            return .page(DeletePage(subject, at: shownTime, problems: problems))
        }
        let undo = current.map { Flash.Undo(version: $0.updateTime, current: nil) }
        return .redirect(to: AdminURL.document(path), flash: .deleted(undo))
    }

    /// Handles the confirmation pages for a collection, for documents that match filters and for selected documents.
    func delete(_ collection: CollectionPath) async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.writer)
            try context.caller.requireAccess(to: collection)
            if let submission, submission.form.has("selected") || submission.form.has("row") {
                guard submission.form.has("row") else {
                    return .redirect(to: AdminURL.collection(collection), flash: .nothingSelected)
                }
                return try await deleteSelection(submission, in: collection)
            }
            if request.query["delete"] == "found" {
                return try await delete(matching: CollectionRequest(path: collection, query: request.query), submission)
            }
            // A URL with filters shows some of the documents, so it must not delete the whole collection.
            guard request.query["where"] == nil else { return .page(ErrorPage.notFound) }
            guard let submission else { return .page(try await deletePage(of: collection)) }
            let input = submission.form["name"]?.string ?? ""
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            if problems.isEmpty, FormTextCoding.decodeLine(input).map({ UTF8Key($0) }) != collection.id.key {
                problems.add(localized("Type the name of the collection to confirm."), at: "name")
            }
            guard problems.isEmpty else { return .page(try await deletePage(of: collection, problems: problems, input: input)) }
            guard let confirmedTime = Timestamp(formValue: submission.form["at"]) else { return .page(ErrorPage.invalidForm) }
            return try await startDeletion(
                of: collection.string,
                returnURL: AdminURL.collection(collection),
                shownTime: confirmedTime,
                totalCount: try await totalCount(of: collection)
            ) { () async throws(StatusError) in
                try await deletePage(of: collection, input: input)
            } _: { deletion throws(StatusError) in
                try await deletion.delete(collection)
            }
        }
    }

    /// Returns the number of documents in a collection and its subcollections; `nil` if they take too long to count.
    private func totalCount(of collection: CollectionPath) async throws(StatusError) -> Int? {
        let estimate = try await Subtree(context: context).estimate(of: collection)
        return estimate.isLowerBound ? nil : estimate.count
    }

    private func deletePage(
        of collection: CollectionPath,
        problems: FormProblems = FormProblems(),
        input: String = ""
    ) async throws(StatusError) -> DeletePage {
        let shownTime = try await ReadConsistency().resolvedReadTime(in: context)
        let estimate = try await Subtree(context: context).estimate(of: collection)
        return DeletePage(.collection(collection, estimate), at: shownTime, problems: problems, confirmationInput: input)
    }

    /// Starts a deletion job.
    ///
    /// - Parameters:
    ///   - subject: The path or query that pages show as the job's subject.
    ///   - shownTime: The time of the last commit that the confirmation page reflected.
    ///   - page: Returns the confirmation page, which is shown again when the job cannot be started.
    private func startDeletion(
        of subject: String,
        returnURL: String,
        shownTime: Timestamp,
        totalCount: Int? = nil,
        orShow page: () async throws(StatusError) -> DeletePage,
        _ body: @escaping @Sendable (DeletionJob) async throws(StatusError) -> Void
    ) async throws(StatusError) -> FormResult {
        do throws(JobRunner.StartError) {
            return try await jobRunner.start(.deleting, of: subject, for: request, returnURL: returnURL, totalCount: totalCount) {
                job in
                .deletedMany(job.progress.completedCount, undo: job.undoID)
            } _: { [context] job throws(StatusError) in
                try await body(DeletionJob(context: context, job: job, shownTime: shownTime))
            }
        } catch {
            return .page(try await page().withError(error))
        }
    }
}

extension DeletionController {
    /// Handles the confirmation page for selected rows of a table and its form.
    private func deleteSelection(
        _ submission: FormSubmission,
        in collection: CollectionPath
    ) async throws(StatusError) -> FormResult {
        guard let targets = try SelectedDocument.rows(of: submission.form, in: collection) else {
            return .page(ErrorPage.invalidForm)
        }
        let deletesSubcollections = submission.form.has("below")
        let page = { (problems: FormProblems) async throws(StatusError) -> DeletePage in
            let shownTime = try await ReadConsistency().resolvedReadTime(in: context)
            var below = DocumentCountEstimate()
            for target in targets where below.count < below.limit {
                below = below + (try await Subtree(context: context).estimate(below: target.path))
            }
            let subject = DeletePage.Subject.selection(targets, in: collection, below: below)
            return DeletePage(subject, at: shownTime, problems: problems, deletesSubcollections: deletesSubcollections)
        }
        guard submission.form.has("confirmed"), !submission.isStale else {
            return .page(try await page(submission.isStale ? .stale : FormProblems()))
        }
        guard let confirmedTime = Timestamp(formValue: submission.form["at"]) else { return .page(ErrorPage.invalidForm) }
        return try await startDeletion(
            of: collection.string,
            returnURL: AdminURL.collection(collection),
            shownTime: confirmedTime,
            totalCount: deletesSubcollections ? nil : targets.count
        ) { () async throws(StatusError) in
            try await page(FormProblems())
        } _: { deletion throws(StatusError) in
            guard let deleted = try await deletion.delete(targets), deletesSubcollections else { return }
            try await deletion.delete(below: deleted)
        }
    }

    /// Handles the confirmation page for the documents that match filters and its form.
    private func delete(
        matching request: CollectionRequest,
        _ submission: FormSubmission?
    ) async throws(StatusError) -> FormResult {
        // A sort order excludes documents without the sort field, which the page would not mention.
        guard request.isFilter else { return .page(ErrorPage.notFound) }
        let query: NormalizedQuery
        do throws(CollectionQuery.ValidationError) {
            query = try CollectionQuery(request).query
        } catch {
            throw StatusError(.invalidArgument, error.message)
        }
        guard let submission else { return .page(try await deletePage(of: request, query)) }
        guard let confirmedTime = Timestamp(formValue: submission.form["at"]),
            let confirmedCount = submission.form["confirmed"].flatMap({ Int($0.string) }),
            (0...DocumentCountEstimate.queryLimit).contains(confirmedCount)
        else { return .page(ErrorPage.invalidForm) }
        guard !submission.isStale else { return .page(try await deletePage(of: request, query, problems: .stale)) }
        return try await startDeletion(
            of: request.subject,
            returnURL: request.url(),
            shownTime: confirmedTime,
            totalCount: confirmedCount
        ) { () async throws(StatusError) in
            try await deletePage(of: request, query)
        } _: { [context] deletion throws(StatusError) in
            var documents = DocumentPager(request, matching: query, in: context)
            while let page = try await documents.next() {
                guard try await deletion.delete(page) != nil else { return }
            }
            deletion.recordDamaged(documents.damaged)
            deletion.job.update { $0.countUnmatched(ofConfirmed: confirmedCount) }
        }
    }

    private func deletePage(
        of request: CollectionRequest,
        _ query: NormalizedQuery,
        problems: FormProblems = FormProblems()
    ) async throws(StatusError) -> DeletePage {
        // The time is taken before counting, so that the confirmation does not cover writes during the count.
        let shownTime = try await ReadConsistency().resolvedReadTime(in: context)
        let estimate = try await DocumentCountEstimate(of: query, in: context)
        return DeletePage(.matching(request, estimate), at: shownTime, problems: problems)
    }
}

extension FormProblems {
    fileprivate mutating func addConflict() {
        add(localized("The document was changed by another client. Review it before you delete it."))
    }
}
