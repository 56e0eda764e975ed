import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for the overview of a database.
struct OverviewController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Shows the overview of a database.
    func show() async -> PageResponse {
        let roots = await request.roots
        let info = await GetServerInfo.call((), in: context)
        let page = OverviewPage(
            info,
            databases: await request.resultIfPermitted { () async throws(StatusError) in
                try await ListDatabases.call((), in: context)
            }
                ?? [],
            roots: roots,
            fileProblems: await fileProblems(info),
            cards: await cards(of: roots?.collections ?? [], withSizes: info.index == .ready),
            hasExamples: !request.environment.assets.examples.isEmpty,
            log: await request.resultIfPermitted { () async throws(StatusError) in try await context.log } ?? [],
            hasBackups: context.hasBackupFolder,
            commands: request.shellCommands,
            now: request.now
        )
        return await request.respond(with: page, roots: roots)
    }

    /// Returns the edits of files that need a person, if there are any.
    private func fileProblems(_ info: GetServerInfo.Result) async -> FileProblemReport? {
        guard info.storage.map({ $0.fileProblemCount > 0 }) ?? false else { return nil }
        return await request.resultIfPermitted { () async throws(StatusError) in
            try context.authorize(ListFileProblems.requiredPermission)
            return try await ListFileProblems.call(FileProblemList.pageSize, in: context)
        }
    }

    /// Writes the example documents to an empty database in one commit.
    func loadExamples() async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.writer)
            guard let submission, !submission.isStale else { return .page(ErrorPage.invalidForm) }
            let documents = request.environment.assets.examples
            // The form was submitted twice.
            guard await request.roots?.collections.isEmpty == true, !documents.isEmpty else {
                return .redirect(to: AdminURL.overview)
            }
            _ = try await CommitWrites.call(.init(writes: documents.map { .create($0.path, $0.fields) }), in: context)
            return .redirect(to: AdminURL.overview, flash: .imported(documents.count))
        }
    }

    /// Returns the cards of collections.
    ///
    /// - Parameter withSizes: Whether to include the sizes, which requires that the index is ready.
    private func cards(of collections: [CollectionID], withSizes: Bool) async -> [OverviewPage.Card] {
        var cards: [OverviewPage.Card] = []
        for id in collections {
            let path = CollectionPath(parent: nil, id: id)
            cards.append(
                OverviewPage.Card(
                    id,
                    size: !withSizes ? nil : try? await GetCollectionSize.call(.init(collection: path), in: context)
                )
            )
        }
        return cards
    }
}

extension ServiceContext {
    /// The latest log entries, newest first.
    ///
    /// - Throws: `permissionDenied` when the caller is not an admin.
    fileprivate var log: [RecentLog.Entry] {
        get async throws(StatusError) {
            try authorize(GetServerLog.requiredPermission)
            return await GetServerLog.call((), in: self).reversed()
        }
    }
}
