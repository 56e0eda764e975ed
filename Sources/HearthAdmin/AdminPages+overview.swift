import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// The first page.
    func overview(for request: PageRequest) async -> PageResponse {
        let roots = await roots
        let page = OverviewPage(
            await ServerInfo.call((), in: context),
            // Not everybody may know.
            databases: (try? await ListDatabases.call((), in: context)) ?? [],
            cards: await cards(of: roots?.collections ?? []),
            curl: curl(for: request),
            now: surroundings.now()
        )
        return await respond(with: page, beside: roots)
    }

    /// Collections with the numbers of their documents, as many as are counted without effort.
    private func cards(of collections: [CollectionID]) async -> [OverviewPage.Card] {
        var cards: [OverviewPage.Card] = []
        // A page that nobody waits for: each count ends at its own bound, and all of them at this one.
        var budget = 200_000
        for id in collections {
            let path = CollectionPath(parent: nil, id: id)
            var count: CollectionCount?
            if budget > 0, let query = try? NormalizedQuery(StoreQuery(.collection(path))) {
                count = await CollectionCount(query, in: context)
                budget -= count?.counted ?? 0
            }
            let link = LinkView(url: AdminURL.collection(path), text: DisplayText(id.key.string))
            cards.append(OverviewPage.Card(link: link, count: count))
        }
        return cards
    }
}
