import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// How many rows of a table can be ticked at a time.
    private static let maximumSelection = 1_000

    /// Asks whether to delete the documents that were ticked in a table, and deletes them when that was confirmed.
    func delete(selectedBy submission: Submission, in collection: CollectionPath) async throws(StatusError) -> FormAnswer {
        var versions: [Deletion.Version] = []
        var known: Set<DocumentPath> = []
        for row in submission.form.values("row") {
            guard let version = Deletion.Version(formText: row, in: collection) else { return .page(ProblemPage.unknownForm) }
            if known.insert(version.path).inserted { versions.append(version) }
        }
        guard versions.count <= Self.maximumSelection else {
            throw StatusError(
                .invalidArgument,
                "\(versions.count) documents were ticked. Tick at most \(Self.maximumSelection) at a time, or delete what filters find."
            )
        }
        let deletesBelow = submission.form.has("below")
        let page = { [versions] (problems: FormProblems) async throws(StatusError) -> DeletePage in
            let shownTime = try await ReadPoint().shownTime(in: context)
            var below = Extent()
            for version in versions where below.count < below.limit {
                below = below + (try await Subtree(context: context).extent(below: version.path))
            }
            let subject = DeletePage.Subject.documents(versions, in: collection, below: below)
            return DeletePage(subject, at: shownTime, problems: problems, deletesBelow: deletesBelow)
        }
        guard submission.form.has("confirmed"), !submission.isStale else {
            return .page(try await page(submission.isStale ? .stale : FormProblems()))
        }
        guard let confirmedTime = Timestamp(formText: submission.form["at"]) else { return .page(ProblemPage.unknownForm) }
        return try await beginDeleting(
            collection.string,
            backURL: AdminURL.collection(collection),
            shownAt: confirmedTime,
            total: deletesBelow ? nil : versions.count
        ) { () async throws(StatusError) in
            try await page(FormProblems())
        } _: { [versions] deletion throws(StatusError) in
            guard let gone = try await deletion.delete(versions), deletesBelow else { return }
            try await deletion.delete(below: gone)
        }
    }

    /// Asks whether to delete what the filters of a collection find, and deletes it.
    func delete(found request: CollectionRequest, _ submission: Submission?) async throws(StatusError) -> FormAnswer {
        // An order leaves out what lacks its field, so not all would be deleted that the page seems to speak of.
        guard request.isFilter else { return .page(ProblemPage.unknownAddress) }
        let query: NormalizedQuery
        do throws(CollectionQuery.Fault) {
            query = try CollectionQuery(request).query
        } catch {
            throw StatusError(.invalidArgument, error.message)
        }
        guard let submission else { return .page(try await deletePage(of: request, query)) }
        guard let confirmedTime = Timestamp(formText: submission.form["at"]),
            let confirmedCount = submission.form["confirmed"].flatMap({ Int($0.string) }),
            (0...Extent.queryLimit).contains(confirmedCount)
        else { return .page(ProblemPage.unknownForm) }
        guard !submission.isStale else { return .page(try await deletePage(of: request, query, problems: .stale)) }
        let subject = ([request.path.string] + request.filters.compactMap(\.text?.string)).joined(separator: " · ")
        return try await beginDeleting(subject, backURL: request.url(), shownAt: confirmedTime, total: confirmedCount) {
            () async throws(StatusError) in
            try await deletePage(of: request, query)
        } _: { [context] deletion throws(StatusError) in
            var documents = ExportedDocuments(request, finding: query, in: context)
            while let page = try await documents.next() {
                guard try await deletion.delete(page) != nil else { return }
            }
            deletion.keep(documents.damaged)
            deletion.work.update { $0.noteLost(of: confirmedCount) }
        }
    }

    /// Asks whether to delete what a query finds.
    private func deletePage(
        of request: CollectionRequest,
        _ query: NormalizedQuery,
        problems: FormProblems = FormProblems()
    ) async throws(StatusError) -> DeletePage {
        // The time first: what is written while the documents are counted is not confirmed.
        let shownTime = try await ReadPoint().shownTime(in: context)
        let extent = try await Extent(of: query, in: context)
        return DeletePage(.found(request, extent), at: shownTime, problems: problems)
    }
}
