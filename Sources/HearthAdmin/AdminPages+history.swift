import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// How many versions a page shows.
    private static let versionCount = 20

    /// The versions of a document.
    func history(of path: DocumentPath, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.reader)
            let before = Timestamp(formText: request.items["before"])
            return .page(try await historyPage(of: path, before: before))
        }
    }

    private func historyPage(
        of path: DocumentPath,
        before: Timestamp? = nil,
        problems: FormProblems = FormProblems()
    ) async throws(StatusError) -> HistoryPage {
        let current = try await context.store.document(at: path)
        var versions: [DocumentVersion] = []
        var next = before
        repeat {
            let page = try await DocumentHistory.call(.init(path: path, before: next), in: context)
            versions += page.versions
            next = page.next
        } while next != nil && versions.count <= Self.versionCount
        versions = Array(versions.prefix(Self.versionCount + 1))
        return try HistoryPage(
            path,
            versions,
            hasMore: versions.count > Self.versionCount,
            current: current,
            before: before,
            keys: visit.visitor.isAdmin ? context.keys.all : [],
            problems: problems,
            now: surroundings.now()
        )
    }

    /// Writes a version of a document as its newest one, where it is still as the form has shown it.
    func restore(_ path: DocumentPath, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            guard let submission else { return .done(at: AdminURL.document(path) + "?history", nil) }
            try context.authorize(.writer)
            let form = submission.form
            let known = Timestamp(formText: form["current"])
            guard let time = Timestamp(formText: form["version"]) else { return .page(ProblemPage.unknownForm) }
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            guard problems.isEmpty else { return .page(try await historyPage(of: path, problems: problems)) }
            guard let version = try await version(of: path, at: time) else {
                problems.add(localized("This version is no longer kept."))
                return .page(try await historyPage(of: path, problems: problems))
            }
            do throws(StatusError) {
                let write = try Write.set(
                    path,
                    try version.decoded().fields,
                    precondition: known.map(Precondition.updateTime) ?? .exists(false)
                )
                let result = try await SetDocument.call(write, in: context)
                let undo = known.map { Flash.Undo(version: $0, current: result.updateTime) }
                return .done(at: AdminURL.document(path), .restored(undo))
            } catch {
                guard [.failedPrecondition, .notFound, .alreadyExists].contains(error.code) else { throw error }
                problems.add(
                    localized("Somebody has changed the document meanwhile, so nothing was restored. Look at what it is now.")
                )
                return .page(try await historyPage(of: path, problems: problems))
            }
        }
    }
}
