import DocumentModel
import HearthService
import StrictJSON

extension AdminPages {
    /// The list of what takes long.
    func listWorks(for request: PageRequest) async -> PageResponse {
        await respond(to: request) { _ throws(StatusError) in
            try context.authorize(.writer)
            let (caller, database) = (context.caller, context.databaseName)
            return .page(
                WorksPage(
                    works.works(for: caller, in: database),
                    busyDatabases: works.busyDatabases(for: caller, besides: database),
                    now: surroundings.now()
                )
            )
        }
    }

    /// The page of something that takes long, and its button to stop it.
    func work(_ id: UTF8Key, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            guard let work = works.work(id, for: context.caller, in: context.databaseName) else {
                return .page(ProblemPage.unknownAddress)
            }
            guard let submission else { return .page(WorkPage(work)) }
            if !submission.isStale { work.stop() }
            return .done(at: AdminURL.work(id), nil)
        }
    }

    /// Begins something, and waits a little for its end.
    ///
    /// - Parameters:
    ///   - subject: What it does that to, for people.
    ///   - id: Its ID, where that has to be known before.
    ///   - flash: What is said when it was over soon.
    /// - Returns: The way to where it leads when it is over already, to the page of its progress otherwise.
    /// - Throws: Why it could not be begun.
    func begin(
        _ kind: Work.Kind,
        of subject: String,
        id: UTF8Key = UTF8Key(Nonce.make()),
        backURL: String,
        total: Int? = nil,
        flash: (Work.Progress) -> Flash?,
        _ body: @escaping @Sendable (Work) async throws(StatusError) -> Void
    ) async throws(Works.Refusal) -> FormAnswer {
        let work = Work(
            kind,
            of: subject,
            in: context.databaseName,
            id: id,
            for: visit.visitor,
            backURL: backURL,
            at: surroundings.now()
        )
        work.update { $0.total = total }
        try works.begin(work, body)
        await work.wait(atMost: surroundings.patience)
        let progress = work.progress
        return progress.isPlain ? .done(at: backURL, flash(progress)) : .done(at: AdminURL.work(work.id), nil)
    }

    /// Forgets files that nobody imports, until the task is cancelled.
    package func follow() async {
        while (try? await Task.sleep(for: .seconds(60))) != nil { uploads.removeIdle() }
    }

    /// Ends what was begun, each work after what it is doing, and forgets the files that were sent.
    package func close() async {
        await works.close()
        uploads.removeAll()
    }
}
