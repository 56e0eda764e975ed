import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// Asks whether to delete a document, and deletes it.
    func delete(_ path: DocumentPath, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.writer)
            let shownTime = try await ReadPoint().shownTime(in: context)
            let current = try await context.store.document(at: path)
            let below = try await Subtree(context: context).extent(below: path)
            guard current != nil || !below.isEmpty else {
                throw StatusError(.notFound, "There is no document \(path.shown), and nothing below it.", path: path.string)
            }
            let subject = DeletePage.Subject.document(path, base: EditBase(current), below: below)
            guard let submission else { return .page(DeletePage(subject, at: shownTime)) }
            guard let confirmedTime = Timestamp(formText: submission.form["at"]) else { return .page(ProblemPage.unknownForm) }
            // Of a document that doesn't exist there is nothing else to delete.
            let deletesBelow = submission.form.has("below") || current == nil
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            if problems.isEmpty, EditBase(submission.form["base"]) != EditBase(current) { problems.addChange() }
            guard problems.isEmpty else {
                return .page(DeletePage(subject, at: shownTime, problems: problems, deletesBelow: deletesBelow))
            }
            guard deletesBelow, !below.isEmpty else {
                return try await delete(path, current, subject, at: shownTime)
            }
            return try await beginDeleting(path.string, backURL: AdminURL.document(path), shownAt: confirmedTime) {
                DeletePage(subject, at: shownTime, deletesBelow: true)
            } _: { deletion throws(StatusError) in
                if let current, try await deletion.delete([current])?.isEmpty ?? true { return }
                try await deletion.delete(below: [path])
            }
        }
    }

    /// Deletes one document at once.
    private func delete(
        _ path: DocumentPath,
        _ current: EncodedDocument?,
        _ subject: DeletePage.Subject,
        at shownTime: Timestamp
    ) async throws(StatusError) -> FormAnswer {
        do throws(StatusError) {
            _ = try await DeleteDocument.call(.delete(path, precondition: EditBase(current).precondition), in: context)
        } catch {
            guard [.failedPrecondition, .notFound, .alreadyExists].contains(error.code) else { throw error }
            var problems = FormProblems()
            problems.addChange()
            return .page(DeletePage(subject, at: shownTime, problems: problems))
        }
        let undo = current.map { Flash.Undo(version: $0.updateTime, current: nil) }
        return .done(at: AdminURL.document(path), .deleted(undo))
    }

    /// Asks whether to delete a collection or documents of it, and deletes them.
    func delete(_ collection: CollectionPath, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.writer)
            try context.caller.check(collection)
            if let submission, submission.form.has("selected") || submission.form.has("row") {
                guard submission.form.has("row") else { return .done(at: AdminURL.collection(collection), nil) }
                return try await delete(selectedBy: submission, in: collection)
            }
            if request.items["delete"] == "found" {
                let found = try CollectionRequest(path: collection, query: request.items)
                return try await delete(found: found, submission)
            }
            // With filters, the address speaks of some documents and not of all.
            guard request.items["where"] == nil else { return .page(ProblemPage.unknownAddress) }
            guard let submission else { return .page(try await deletePage(of: collection)) }
            let typed = submission.form["name"]?.string ?? ""
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            if problems.isEmpty, EditedText.string(ofLine: typed).map({ UTF8Key($0) }) != collection.id.key {
                problems.add(localized("Type the name of the collection, to show that you mean it."), at: "name")
            }
            guard problems.isEmpty else { return .page(try await deletePage(of: collection, problems: problems, typed: typed)) }
            guard let confirmedTime = Timestamp(formText: submission.form["at"]) else { return .page(ProblemPage.unknownForm) }
            return try await beginDeleting(collection.string, backURL: AdminURL.collection(collection), shownAt: confirmedTime) {
                () async throws(StatusError) in
                try await deletePage(of: collection, typed: typed)
            } _: { deletion throws(StatusError) in
                try await deletion.delete(collection)
            }
        }
    }

    /// Asks whether to delete a collection with all that is below.
    private func deletePage(
        of collection: CollectionPath,
        problems: FormProblems = FormProblems(),
        typed: String = ""
    ) async throws(StatusError) -> DeletePage {
        let shownTime = try await ReadPoint().shownTime(in: context)
        let extent = try await Subtree(context: context).extent(of: collection)
        return DeletePage(.collection(collection, extent), at: shownTime, problems: problems, typed: typed)
    }

    /// Begins to delete what was shown at a time.
    ///
    /// - Parameters:
    ///   - subject: What is deleted, or where that is, for people.
    ///   - page: The page that asks for it, to be shown again where it can't be begun.
    func beginDeleting(
        _ subject: String,
        backURL: String,
        shownAt time: Timestamp,
        total: Int? = nil,
        orShow page: () async throws(StatusError) -> DeletePage,
        _ body: @escaping @Sendable (Deletion) async throws(StatusError) -> Void
    ) async throws(StatusError) -> FormAnswer {
        do throws(Works.Refusal) {
            return try await begin(.deleting, of: subject, backURL: backURL, total: total) { progress in
                .deletedMany(progress.done)
            } _: { [context] work throws(StatusError) in
                try await body(Deletion(context: context, work: work, shownTime: time))
            }
        } catch {
            return .page(try await page().refused(by: error))
        }
    }
}

extension FormProblems {
    /// The document is no longer as it was shown.
    fileprivate mutating func addChange() {
        add(localized("Somebody has changed the document meanwhile. Look at it again before you delete it."))
    }
}
