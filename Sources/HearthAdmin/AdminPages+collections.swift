import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// The collections at the top with the numbers of their documents, as many as are counted without effort.
    var overviewCards: [OverviewPage.Card] {
        get async {
            let roots = try? await ListCollections.call(.init(pageSize: PageChrome.rootLimit), in: context)
            var cards: [OverviewPage.Card] = []
            // A page that nobody waits for: each count ends at its own bound, and all of them at this one.
            var budget = 200_000
            for id in roots?.collections ?? [] {
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

    /// The address that the form of a collection's filters leads to, once all of its rows can be read; nil for everything else.
    func finishedForm(at segments: [UTF8Key], query: Query) -> String? {
        guard case .collection(let path)? = try? DataPath(segments),
            let request = try? CollectionRequest(path: path, query: query),
            let form = FilterForm(query, of: request), !form.isUnfinished
        else { return nil }
        return form.request.url()
    }

    /// A page of a collection, as its address asks for it.
    func collectionPage(_ path: CollectionPath, query: Query, curl: CurlCommand) async throws(StatusError) -> any Page {
        var request = try CollectionRequest(path: path, query: query)
        if let form = FilterForm(query, of: request) { request = form.request }
        let listing = try await CollectionListing(request, in: context)
        let frame = CollectionFrame(listing, count: await CollectionCount(listing, in: context), curl: curl)
        // Where there are no documents since the filters can't be read, there is nothing but their form to show.
        guard listing.fault == nil else { return CollectionTablePage(frame) }
        return switch request.view {
        case .table: CollectionTablePage(frame)
        case .map: CollectionMapPage(frame)
        case .colors: CollectionColorsPage(frame)
        case .json: CollectionJSONPage(frame)
        case .types: try await CollectionTypesPage(frame, in: context)
        }
    }
}
