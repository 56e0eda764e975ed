import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// The first page.
    func overview(for request: PageRequest) async -> PageResponse {
        let roots = await roots
        let info = await ServerInfo.call((), in: context)
        let page = OverviewPage(
            info,
            databases: await unlessRefused { () async throws(StatusError) in try await ListDatabases.call((), in: context) }
                ?? [],
            cards: await cards(of: roots?.collections ?? [], withSizes: info.index == .ready),
            log: await unlessRefused { () async throws(StatusError) in try await context.log } ?? [],
            curl: curl(for: request),
            now: surroundings.now()
        )
        return await respond(with: page, beside: roots)
    }

    /// Collections with what is in them, where the index is there to tell: it is not waited for.
    private func cards(of collections: [CollectionID], withSizes: Bool) async -> [OverviewPage.Card] {
        var cards: [OverviewPage.Card] = []
        for id in collections {
            let path = CollectionPath(parent: nil, id: id)
            cards.append(
                OverviewPage.Card(
                    link: LinkView(url: AdminURL.collection(path), text: DisplayText(id.key.string)),
                    size: !withSizes ? nil : try? await SizeOfCollection.call(.init(collection: path), in: context)
                )
            )
        }
        return cards
    }
}

extension ServiceContext {
    /// The last lines of the log, the newest first.
    ///
    /// - Throws: `permissionDenied` to whoever is no admin.
    fileprivate var log: [RecentLog.Line] {
        get async throws(StatusError) {
            try authorize(ServerLog.right)
            return await ServerLog.call((), in: self).reversed()
        }
    }
}
