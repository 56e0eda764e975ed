import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// Asks whether to delete a document, and deletes it.
    func delete(_ path: DocumentPath, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.writer)
            let subtree = Subtree(context: context)
            let current = try await context.store.document(at: path)
            let below = DeletePage.Extent(count: try await subtree.count(below: path, atMost: DeletePage.Extent.limit))
            guard current != nil || below.count > 0 else {
                throw StatusError(.notFound, "There is no document \(path), and nothing below it.", path: path.string)
            }
            let subject = DeletePage.Subject.document(path, base: EditBase(current), below: below)
            guard let submission else { return .page(DeletePage(subject)) }
            let deletesBelow = submission.form.has("below")
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            if problems.isEmpty, EditBase(submission.form["base"]) != EditBase(current) {
                problems.add(localized("Somebody has changed the document meanwhile. Look at it again before you delete it."))
            }
            guard problems.isEmpty else { return .page(DeletePage(subject, problems: problems, deletesBelow: deletesBelow)) }
            let base = EditBase(current)
            if deletesBelow, below.count > 0 {
                return try await begin(.deleting, backURL: AdminURL.document(path)) { progress in
                    .deletedMany(progress.done)
                } _: { [context] work throws(StatusError) in
                    // First: where somebody has changed it meanwhile, nothing below it goes either.
                    if current != nil {
                        _ = try await DeleteDocument.call(.delete(path, precondition: base.precondition), in: context)
                        work.update { $0.done += 1 }
                    }
                    try await Self.delete(below: path, in: context, work)
                }
            }
            _ = try await DeleteDocument.call(.delete(path, precondition: base.precondition), in: context)
            let undo = current.map { Flash.Undo(version: $0.updateTime, current: nil) }
            return .done(at: AdminURL.document(path), .deleted(undo))
        }
    }

    /// Asks whether to delete a collection or documents of it, and deletes them.
    func delete(_ collection: CollectionPath, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.writer)
            let subtree = Subtree(context: context)
            if let submission, submission.form.has("selected") || submission.form.has("row") {
                guard submission.form.has("row") else { return .done(at: AdminURL.collection(collection), nil) }
                return try await delete(selectedBy: submission, in: collection)
            }
            if request.items["delete"] == "found" {
                let found = try CollectionRequest(path: collection, query: request.items)
                return try await delete(found: found, submission)
            }
            let extent = DeletePage.Extent(count: try await subtree.count(in: collection, atMost: DeletePage.Extent.limit))
            let subject = DeletePage.Subject.collection(collection, extent)
            guard let submission else { return .page(DeletePage(subject)) }
            let typed = submission.form["name"]?.string ?? ""
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            if problems.isEmpty, EditedText.string(ofLine: typed).map({ UTF8Key($0) }) != collection.id.key {
                problems.add(localized("Type the name of the collection, to show that you mean it."), at: "name")
            }
            guard problems.isEmpty else { return .page(DeletePage(subject, problems: problems, typed: typed)) }
            return try await begin(.deleting, backURL: AdminURL.collection(collection)) { progress in
                .deletedMany(progress.done)
            } _: { [context] work throws(StatusError) in
                try await Subtree(context: context).visit(collection) { paths throws(StatusError) in
                    try await Self.delete(paths, in: context, work)
                }
            }
        }
    }

    /// Asks whether to delete the documents that were ticked in a table, and deletes them when that was confirmed.
    private func delete(selectedBy submission: Submission, in collection: CollectionPath) async throws(StatusError) -> FormAnswer
    {
        var paths: [DocumentPath] = []
        for row in submission.form.values("row").prefix(PageSize.maximumSelection) {
            guard let id = PercentEncoding.decode(row.utf8).flatMap({ UTF8Key(validating: $0) }) else {
                return .page(ProblemPage.unknownForm)
            }
            paths.append(collection.document(try DocumentID(id.string)))
        }
        var count = 0
        for path in paths where count < DeletePage.Extent.limit {
            count += try await Subtree(context: context).count(below: path, atMost: DeletePage.Extent.limit - count)
        }
        let below = submission.form.has("below")
        let subject = DeletePage.Subject.documents(paths, in: collection, below: .init(count: count))
        guard submission.form.has("confirmed"), !submission.isStale else {
            return .page(DeletePage(subject, problems: submission.isStale ? .stale : FormProblems(), deletesBelow: below))
        }
        return try await begin(.deleting, backURL: AdminURL.collection(collection), total: below ? nil : paths.count) {
            progress in
            .deletedMany(progress.done)
        } _: { [context, paths] work throws(StatusError) in
            if below { for path in paths { try await Self.delete(below: path, in: context, work) } }
            _ = try await Self.delete(paths, in: context, work)
        }
    }

    /// Asks whether to delete what the filters of a collection find, and deletes it.
    private func delete(found request: CollectionRequest, _ submission: Submission?) async throws(StatusError) -> FormAnswer {
        guard request.isFilter, let query = try? CollectionQuery(request).query,
            let count = await CollectionCount(query, atMost: DeletePage.Extent.limit, in: context)
        else { return .page(ProblemPage.unknownAddress) }
        let subject = DeletePage.Subject.found(request, .init(count: count.counted))
        // What is confirmed is the number that was shown.
        guard let submission, !submission.isStale, submission.form["confirmed"] == UTF8Key("\(count.counted)") else {
            return .page(DeletePage(subject, problems: submission?.isStale == true ? .stale : FormProblems()))
        }
        return try await begin(.deleting, backURL: request.url()) { progress in
            .deletedMany(progress.done)
        } _: { [context] work throws(StatusError) in
            var isProgressing = true
            while isProgressing {
                let paths = try await CollectionListing(request, in: context).documents.map(\.path)
                let before = work.progress.done
                guard !paths.isEmpty, try await Self.delete(paths, in: context, work) else { return }
                // What can't be deleted is found again and again.
                isProgressing = work.progress.done > before
            }
        }
    }

    private static func delete(below path: DocumentPath, in context: ServiceContext, _ work: Work) async throws(StatusError) {
        try await Subtree(context: context).visit(below: path) { paths throws(StatusError) in
            try await delete(paths, in: context, work)
        }
    }

    /// Deletes documents, each for itself.
    ///
    /// - Returns: Whether to go on.
    private static func delete(
        _ paths: [DocumentPath],
        in context: ServiceContext,
        _ work: Work
    ) async throws(StatusError) -> Bool {
        // The caller's key may have been revoked since the last ones.
        try context.authorize(.writer)
        guard !work.isStopping else { return false }
        let outcomes = try await BatchWrite.call(paths.map { .delete($0) }, in: context)
        work.update { progress in
            for (path, outcome) in zip(paths, outcomes) {
                switch outcome {
                case .success: progress.done += 1
                case .failure(let error): progress.note(Work.Fault(place: path.string, message: error.message))
                }
            }
        }
        return !work.isStopping
    }
}

extension PageSize {
    /// How many rows of a table can be ticked at a time.
    fileprivate static let maximumSelection = 1_000
}
